"""LiteLLM as a client: chat, Responses and Messages."""

import json

import litellm

from play import BASE_URL, KEY, NAME, PERSON, QUESTION, SECOND_TURN, URL, WEATHER, WHO, Person, expect_ada, expect_words, get_weather, play

litellm.telemetry = False

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"type": "function", "function": {"name": "get_weather", "description": "The weather of a city", "parameters": PARAMETERS}}


def openai(model):
    return {"model": f"openai/{model}", "api_base": BASE_URL, "api_key": KEY, "num_retries": 0}


def anthropic(model):
    return {"model": f"anthropic/{model}", "api_base": URL, "api_key": KEY, "num_retries": 0, "max_tokens": 1000}


def user(text):
    return {"role": "user", "content": text}


def tool_loop(door):
    def attempt(model):
        messages = [user(QUESTION)]
        chunks = list(litellm.completion(**door(model), messages=messages, tools=[TOOL], stream=True))
        message = litellm.stream_chunk_builder(chunks, messages=messages).choices[0].message
        call = message.tool_calls[0]
        result = get_weather(**json.loads(call.function.arguments))
        messages += [message.model_dump(exclude_none=True), {"role": "tool", "tool_call_id": call.id, "content": result}]
        answer = litellm.completion(**door(model), messages=messages, tools=[TOOL])
        expect_words(WEATHER, answer.choices[0].message.content)

    return attempt


def second_turn(door):
    def attempt(model):
        first = litellm.completion(**door(model), messages=[user(NAME)]).choices[0].message
        messages = [user(NAME), first.model_dump(exclude_none=True), user(WHO)]
        expect_words(SECOND_TURN, litellm.completion(**door(model), messages=messages).choices[0].message.content)

    return attempt


def schema(door):
    def attempt(model):
        answer = litellm.completion(**door(model), messages=[user(PERSON)], response_format=Person)
        expect_ada(Person.model_validate_json(answer.choices[0].message.content))

    return attempt


def text_of(response):
    return "".join(part.text for item in response.output if item.type == "message" for part in item.content)


def responses_tool_loop(model):
    tool = {"type": "function", "name": "get_weather", "description": "The weather of a city", "parameters": PARAMETERS}
    first = litellm.responses(**openai(model), input=QUESTION, tools=[tool])
    call = next(item for item in first.output if item.type == "function_call")
    result = {"type": "function_call_output", "call_id": call.call_id, "output": get_weather(**json.loads(call.arguments))}
    second = litellm.responses(**openai(model), input=[result], previous_response_id=first.id, tools=[tool])
    expect_words(WEATHER, text_of(second))


def responses_second_turn(model):
    first = litellm.responses(**openai(model), input=NAME)
    items = [item.model_dump(exclude_none=True) for item in first.output]
    second = litellm.responses(**openai(model), input=[user(NAME), *items, user(WHO)])
    expect_words(SECOND_TURN, text_of(second))


def responses_schema(model):
    answer = litellm.responses(**openai(model), input=PERSON, text_format=Person)
    expect_ada(Person.model_validate_json(text_of(answer)))


play(
    {
        ("chat", "tools"): tool_loop(openai),
        ("chat", "second turn"): second_turn(openai),
        ("chat", "schema"): schema(openai),
        ("responses", "tools"): responses_tool_loop,
        ("responses", "second turn"): responses_second_turn,
        ("responses", "schema"): responses_schema,
        ("messages", "tools"): tool_loop(anthropic),
        ("messages", "second turn"): second_turn(anthropic),
        ("messages", "schema"): schema(anthropic),
    }
)
