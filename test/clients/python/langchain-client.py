"""LangChain: agents and structured output over chat, Responses, Messages and Gemini's format."""

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI

from play import (
    BASE_URL,
    FAILING,
    KEY,
    NAME,
    PERSON,
    PICTURE,
    QUESTION,
    SECOND_TURN,
    URL,
    WEATHER,
    WHAT,
    WHO,
    Person,
    expect,
    expect_ada,
    expect_broken,
    expect_refused,
    expect_sight,
    expect_words,
    get_weather,
    play,
)

DOORS = {
    "chat": lambda model: ChatOpenAI(model=model, base_url=BASE_URL, api_key=KEY, max_retries=0),
    "responses": lambda model: ChatOpenAI(model=model, base_url=BASE_URL, api_key=KEY, max_retries=0, use_responses_api=True),
    "messages": lambda model: ChatAnthropic(model=model, base_url=URL, api_key=KEY, max_retries=0, max_tokens=1000),
    "gemini": lambda model: ChatGoogleGenerativeAI(model=model, base_url=URL, google_api_key=KEY, max_retries=1),
}


def tool_loop(door):
    def attempt(model):
        agent = create_agent(door(model), tools=[get_weather])
        last = None
        for state in agent.stream({"messages": [("user", QUESTION)]}, stream_mode="values"):
            last = state["messages"][-1]
        expect_words(WEATHER, last.text)

    return attempt


def second_turn(door):
    def attempt(model):
        chat = door(model)
        first = chat.invoke([("user", NAME)])
        words = "".join(chunk.text for chunk in chat.stream([("user", NAME), first, ("user", WHO)]))
        expect_words(SECOND_TURN, words)

    return attempt


def schema(door):
    def attempt(model):
        expect_ada(door(model).with_structured_output(Person, method="json_schema").invoke(PERSON))

    return attempt


def pictures(door):
    def attempt(model):
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}}
        content = [image, {"type": "text", "text": WHAT}]
        expect_sight(model, lambda: door(model).invoke([("user", content)]).text)

    return attempt


def streams(door):
    def attempt(model):
        chunks = list(door(model).bind_tools([get_weather]).stream(QUESTION))
        whole = sum(chunks[1:], chunks[0])
        calls = [(call["name"], call["args"]) for call in whole.tool_calls]
        expect(calls == [("get_weather", {"city": "Paris"})], f"other calls: {calls!r}")
        pieces = [chunk.text for chunk in door(model).stream(NAME) if chunk.text]
        expect(len(pieces) > 1, "no text in pieces")

    return attempt


def errors(door):
    def attempt(model):
        expect_refused("404", lambda: door("no-such").invoke(NAME))
        expect_broken(door(FAILING).stream(NAME))

    return attempt


plays = {"tools": tool_loop, "second turn": second_turn, "schema": schema, "pictures": pictures, "streams": streams, "errors": errors}
play({(name, feature): made(door) for name, door in DOORS.items() for feature, made in plays.items()})
