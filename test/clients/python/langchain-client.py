"""LangChain: agents and structured output over chat, Responses and Messages."""

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI

from play import BASE_URL, KEY, NAME, PERSON, QUESTION, SECOND_TURN, URL, WEATHER, WHO, Person, expect_ada, expect_words, get_weather, play

DOORS = {
    "chat": lambda model: ChatOpenAI(model=model, base_url=BASE_URL, api_key=KEY, max_retries=0),
    "responses": lambda model: ChatOpenAI(model=model, base_url=BASE_URL, api_key=KEY, max_retries=0, use_responses_api=True),
    "messages": lambda model: ChatAnthropic(model=model, base_url=URL, api_key=KEY, max_retries=0, max_tokens=1000),
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


plays = {"tools": tool_loop, "second turn": second_turn, "schema": schema}
play({(name, feature): made(door) for name, door in DOORS.items() for feature, made in plays.items()})
