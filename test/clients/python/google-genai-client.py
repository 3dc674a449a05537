"""Google's SDK over Gemini's format."""

import base64
import io
import json

from google import genai
from google.genai import types

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
    return genai.Client(api_key=key, http_options={"base_url": URL})


client = client_with(KEY)
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
DECLARED = types.Tool(function_declarations=[types.FunctionDeclaration(name="get_weather", description="The weather of a city", parameters_json_schema=PARAMETERS)])


def tools(model):
    # The SDK calls the function itself.
    answer = client.models.generate_content(model=model, contents=QUESTION, config={"tools": [get_weather]})
    expect_words(WEATHER, answer.text)
    expect(len(answer.automatic_function_calling_history or []) >= 3, "no call in the history")


def second_turn(model):
    chat = client.chats.create(model=model)
    chat.send_message(NAME)
    expect_words(SECOND_TURN, "".join(chunk.text or "" for chunk in chat.send_message_stream(WHO)))


def schema(model):
    for told in ({"response_schema": Person}, {"response_json_schema": Person.model_json_schema()}):
        config = {"response_mime_type": "application/json", **told}
        answer = client.models.generate_content(model=model, contents=PERSON, config=config)
        expect_ada(Person(**json.loads(answer.text)))


def pictures(model):
    part = types.Part.from_bytes(data=base64.b64decode(PICTURE), mime_type="image/png")
    expect_sight(model, lambda: client.models.generate_content(model=model, contents=[part, WHAT]).text)


def streams(model):
    forced = types.ToolConfig(function_calling_config=types.FunctionCallingConfig(mode="ANY"))
    config = types.GenerateContentConfig(tools=[DECLARED], tool_config=forced)
    calls = [call for chunk in client.models.generate_content_stream(model=model, contents=QUESTION, config=config) for call in chunk.function_calls or []]
    expect([(call.name, call.args) for call in calls] == [("get_weather", {"city": "Paris"})], f"other calls: {calls!r}")
    chunks = list(client.models.generate_content_stream(model=model, contents=NAME))
    expect(len(chunks) > 1 and "".join(chunk.text or "" for chunk in chunks) != "", "no text in pieces")
    expect(chunks[-1].candidates[0].finish_reason == types.FinishReason.STOP, f"another end: {chunks[-1]!r}")
    usage = chunks[-1].usage_metadata
    expect(usage.prompt_token_count > 0 and usage.candidates_token_count > 0, f"no usage: {usage!r}")
    expect(usage.total_token_count >= usage.prompt_token_count + usage.candidates_token_count, f"another sum: {usage!r}")


def files(model):
    bytes_of = base64.b64decode(PICTURE)
    config = {"mime_type": "image/png", "display_name": "a picture"}
    file = client.files.upload(file=io.BytesIO(bytes_of), config=config)
    expect(file.state == types.FileState.ACTIVE and file.size_bytes == len(bytes_of), f"another file: {file!r}")
    expect(file.name in [one.name for one in client.files.list()], "the file is not listed")
    expect(client.files.get(name=file.name).display_name == "a picture", "another name")
    expect_sight(model, lambda: client.models.generate_content(model=model, contents=[file, WHAT]).text)
    client.files.delete(name=file.name)
    expect_refused("403 PERMISSION_DENIED", lambda: client.files.get(name=file.name))


def errors(model):
    def ask(by=client, **more):
        return by.models.generate_content(**{"model": model, "contents": NAME, **more})

    expect_refused("404 NOT_FOUND", lambda: ask(model="no-such"))
    expect_refused("API_KEY_INVALID", lambda: ask(client_with("wrong")))
    expect_refused("400 INVALID_ARGUMENT", lambda: ask(config={"temperature": 99.0}))
    expect_broken(client.models.generate_content_stream(model=FAILING, contents=NAME))


def models(model):
    listed = [one.name for one in client.models.list(config={"page_size": 50})]
    expect(f"models/{model}" in listed, f"{model} is none of {len(listed)}")
    got = client.models.get(model=model)
    expect(got.name == f"models/{model}" and got.input_token_limit > 0, f"another model: {got!r}")


def counts(model):
    total = client.models.count_tokens(model=model, contents=QUESTION).total_tokens
    expect(3 < total < 40, f"{total} tokens")


def vectors(model):
    for one in ("gemini-embedding-001", "text-embedding-3-small"):
        found = client.models.embed_content(model=one, contents=[NAME, WHO, model]).embeddings
        expect(len(found) == 3 and all(len(each.values) > 100 for each in found), f"{len(found)} vectors")


tries = {
    "tools": tools,
    "second turn": second_turn,
    "schema": schema,
    "pictures": pictures,
    "streams": streams,
    "files": files,
    "errors": errors,
    "models": models,
    "counts": counts,
    "vectors": vectors,
}
play({("gemini", feature): attempt for feature, attempt in tries.items()})
