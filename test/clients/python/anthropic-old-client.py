"""Anthropic's SDK of early 2025: its list of models, and Messages."""

from anthropic import Anthropic

from play import (
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


def client_with(key):
    return Anthropic(base_url=URL, api_key=key, max_retries=0)


client = client_with(KEY)
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"name": "get_weather", "description": "The weather of a city", "input_schema": SCHEMA}


def create(model, messages, **more):
    return client.messages.create(model=model, max_tokens=1000, messages=messages, **more)


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


def user(content):
    return {"role": "user", "content": content}


def tools(model):
    first = create(model, [user(QUESTION)], tools=[TOOL])
    call = next(block for block in first.content if block.type == "tool_use")
    result = {"type": "tool_result", "tool_use_id": call.id, "content": get_weather(**call.input)}
    messages = [user(QUESTION), {"role": "assistant", "content": first.content}, user([result])]
    expect_words(WEATHER, text_of(create(model, messages, tools=[TOOL])))


def second_turn(model):
    first = create(model, [user(NAME)])
    messages = [user(NAME), {"role": "assistant", "content": first.content}, user(WHO)]
    with client.messages.stream(model=model, max_tokens=1000, messages=messages) as stream:
        expect_words(SECOND_TURN, stream.get_final_text())


def schema(model):
    # A schema of that time: a tool that the model has to call.
    tool = {"name": "note_person", "description": "Notes a person", "input_schema": Person.model_json_schema()}
    forced = {"type": "tool", "name": "note_person"}
    answer = create(model, [user(PERSON)], tools=[tool], tool_choice=forced)
    calls = [block for block in answer.content if block.type == "tool_use"]
    expect([call.name for call in calls] == ["note_person"], f"other calls: {calls!r}")
    expect(answer.stop_reason == "tool_use", f"another end: {answer.stop_reason}")
    expect_ada(Person(**calls[0].input))


def pictures(model):
    source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
    messages = [user([{"type": "image", "source": source}, {"type": "text", "text": WHAT}])]
    expect_sight(model, lambda: text_of(create(model, messages)))


def streams(model):
    choice = {"tools": [TOOL], "tool_choice": {"type": "any"}}
    with client.messages.stream(model=model, max_tokens=1000, messages=[user(QUESTION)], **choice) as stream:
        kinds = [event.type for event in stream]
        last = stream.get_final_message()
    calls = [(block.name, block.input) for block in last.content if block.type == "tool_use"]
    expect(calls == [("get_weather", {"city": "Paris"})], f"other calls: {calls!r}")
    expect(kinds[0] == "message_start" and kinds[-1] == "message_stop", f"other events: {kinds!r}")
    with client.messages.stream(model=model, max_tokens=1000, messages=[user(NAME)]) as stream:
        pieces = list(stream.text_stream)
        usage = stream.get_final_message().usage
    expect(len(pieces) > 1, "no text in pieces")
    # It reads the input's count from the stream's first event, where vendors of other formats have
    # none yet.
    expect(usage.output_tokens > 0, f"no usage: {usage!r}")


def errors(model):
    expect_refused("NotFoundError", lambda: create("no-such", [user(NAME)]))
    expect_refused("AuthenticationError", lambda: client_with("wrong").models.list())
    expect_refused("BadRequestError", lambda: create(model, []))
    expect_broken(create(FAILING, [user(NAME)], stream=True))


def models(model):
    listed = [one.id for one in client.models.list(limit=20)]
    expect(model in listed and len(set(listed)) == len(listed), f"{model} is none of {len(listed)}")
    expect(client.models.retrieve(model).id == model, "another model")


tries = {
    "tools": tools,
    "second turn": second_turn,
    "schema": schema,
    "pictures": pictures,
    "streams": streams,
    "errors": errors,
    "models": models,
}
play({("messages", feature): attempt for feature, attempt in tries.items()})
