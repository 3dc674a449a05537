// LangChain: agents and structured output over chat, Responses and Messages.
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
import {
  apiKey,
  baseURL,
  City,
  expectAda,
  expectWords,
  getWeather,
  name,
  Person,
  person,
  play,
  question,
  secondTurn,
  url,
  weather,
  who,
} from './play.mjs';

const openai = { apiKey, maxRetries: 0, configuration: { baseURL } };
const doors = {
  chat: (model) => new ChatOpenAI({ ...openai, model }),
  responses: (model) => new ChatOpenAI({ ...openai, model, useResponsesApi: true }),
  messages: (model) =>
    new ChatAnthropic({ model, apiKey, anthropicApiUrl: url, maxRetries: 0, maxTokens: 1000 }),
};

await play(doors, {
  async tools(model) {
    const tools = [
      tool(getWeather, { name: 'get_weather', description: 'The weather of a city', schema: City }),
    ];
    let last;
    for await (const state of await createAgent({ model, tools }).stream(
      { messages: [['user', question]] },
      { streamMode: 'values' },
    ))
      last = state.messages.at(-1);
    expectWords(weather, last.text);
  },
  async 'second turn'(model) {
    const first = await model.invoke([['user', name]]);
    let text = '';
    for await (const chunk of await model.stream([['user', name], first, ['user', who]]))
      text += chunk.text;
    expectWords(secondTurn, text);
  },
  async schema(model) {
    expectAda(await model.withStructuredOutput(Person, { method: 'jsonSchema' }).invoke(person));
  },
});
