"""Instructor: objects by a tool that must be called and by JSON schema, and a second turn with the first answer in it."""

import instructor
from anthropic import Anthropic
from openai import OpenAI

from play import BASE_URL, KEY, NAME, PERSON, URL, Person, expect_ada, play

openai = OpenAI(base_url=BASE_URL, api_key=KEY, max_retries=0)
anthropic = Anthropic(base_url=URL, api_key=KEY, max_retries=0)


def ask(client, **options):
    def attempt(model):
        messages = [{"role": "user", "content": PERSON}]
        expect_ada(client.create(model=model, response_model=Person, max_retries=0, messages=messages, **options))

    return attempt


def ask_twice(client, **options):
    def attempt(model):
        first = [{"role": "user", "content": NAME}, {"role": "assistant", "content": "Good day, Ada."}]
        messages = [*first, {"role": "user", "content": PERSON}]
        expect_ada(client.create(model=model, response_model=Person, max_retries=0, messages=messages, **options))

    return attempt


chat = instructor.from_openai(openai, mode=instructor.Mode.TOOLS)
chat_schema = instructor.from_openai(openai, mode=instructor.Mode.JSON_SCHEMA)
responses = instructor.from_openai(openai, mode=instructor.Mode.RESPONSES_TOOLS)
messages = instructor.from_anthropic(anthropic, mode=instructor.Mode.ANTHROPIC_TOOLS)

play(
    {
        ("chat", "tools"): ask(chat),
        ("chat", "second turn"): ask_twice(chat),
        ("chat", "schema"): ask(chat_schema),
        ("responses", "tools"): ask(responses),
        ("messages", "tools"): ask(messages, max_tokens=1000),
        ("messages", "second turn"): ask_twice(messages, max_tokens=1000),
    }
)
