// LangChain: agents and structured output over chat, Responses, Messages and Gemini's format.
import assert from 'node:assert/strict';
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatGoogleGenerativeAI } from '@langchain/google-genai';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
import {
  apiKey,
  baseURL,
  City,
  expectAda,
  expectRefused,
  expectSight,
  expectWords,
  failing,
  getWeather,
  name,
  notOffered,
  Person,
  person,
  picture,
  play,
  question,
  secondTurn,
  url,
  weather,
  what,
  who,
} from './play.mjs';

const openai = { apiKey, maxRetries: 0, configuration: { baseURL } };
const doors = {
  chat: (model) => new ChatOpenAI({ ...openai, model }),
  responses: (model) => new ChatOpenAI({ ...openai, model, useResponsesApi: true }),
  messages: (model) =>
    new ChatAnthropic({ model, apiKey, anthropicApiUrl: url, maxRetries: 0, maxTokens: 1000 }),
  gemini: (model) => new ChatGoogleGenerativeAI({ model, apiKey, baseUrl: url, maxRetries: 0 }),
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
  async pictures(model, id) {
    const image_url = { url: `data:image/png;base64,${picture}` };
    const content = [
      { type: 'image_url', image_url },
      { type: 'text', text: what },
    ];
    // Google's package decides by the name of a model whether it sees.
    if (model instanceof ChatGoogleGenerativeAI && !id.startsWith('gemini')) return notOffered;
    await expectSight(id, async () => (await model.invoke([{ role: 'user', content }])).text);
    return undefined;
  },
  async errors(model, id, modelOf) {
    await expectRefused(404, () => modelOf('no-such').invoke(name));
    await assert.rejects(async () => {
      for await (const chunk of await modelOf(failing).stream(name)) assert.ok(chunk);
    });
  },
});
