"""Anthropic's SDK of early 2025: its list of models, and Messages."""

from anthropic import Anthropic

from play import KEY, NAME, PICTURE, QUESTION, SECOND_TURN, URL, WEATHER, WHAT, WHO, expect, expect_refused, expect_sight, expect_words, get_weather, play


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


def pictures(model):
    source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
    messages = [user([{"type": "image", "source": source}, {"type": "text", "text": WHAT}])]
    expect_sight(model, lambda: text_of(create(model, messages)))


def errors(model):
    expect_refused("NotFoundError", lambda: create("no-such", [user(NAME)]))
    expect_refused("AuthenticationError", lambda: client_with("wrong").models.list())
    expect_refused("BadRequestError", lambda: create(model, []))


def models(model):
    listed = [one.id for one in client.models.list(limit=20)]
    expect(model in listed and len(set(listed)) == len(listed), f"{model} is none of {len(listed)}")
    expect(client.models.retrieve(model).id == model, "another model")


tries = {"tools": tools, "second turn": second_turn, "pictures": pictures, "errors": errors, "models": models}
play({("messages", feature): attempt for feature, attempt in tries.items()})
