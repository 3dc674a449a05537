"""pydantic-ai: agents over chat, Responses and Messages."""

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from play import BASE_URL, KEY, NAME, PERSON, QUESTION, SECOND_TURN, URL, WEATHER, WHO, Person, expect_ada, expect_words, get_weather, play


def openai():
    return OpenAIProvider(openai_client=AsyncOpenAI(base_url=BASE_URL, api_key=KEY, max_retries=0))


def anthropic():
    return AnthropicProvider(anthropic_client=AsyncAnthropic(base_url=URL, api_key=KEY, max_retries=0))


DOORS = {
    "chat": lambda model: OpenAIChatModel(model, provider=openai()),
    "responses": lambda model: OpenAIResponsesModel(model, provider=openai()),
    "messages": lambda model: AnthropicModel(model, provider=anthropic()),
}


def tool_loop(door):
    def attempt(model):
        agent = Agent(door(model), tools=[get_weather])
        expect_words(WEATHER, agent.run_sync(QUESTION).output)

    return attempt


def second_turn(door):
    def attempt(model):
        agent = Agent(door(model))
        first = agent.run_sync(NAME)
        expect_words(SECOND_TURN, agent.run_stream_sync(WHO, message_history=first.all_messages()).get_output())

    return attempt


def schema(door):
    def attempt(model):
        chat = door(model)
        expect_ada(Agent(chat, output_type=Person).run_sync(PERSON).output)
        # The library's own list by model name says which Anthropic models take a schema.
        if chat.profile.get("supports_json_schema_output"):
            expect_ada(Agent(chat, output_type=NativeOutput(Person)).run_sync(PERSON).output)

    return attempt


plays = {"tools": tool_loop, "second turn": second_turn, "schema": schema}
play({(name, feature): made(door) for name, door in DOORS.items() for feature, made in plays.items()})
