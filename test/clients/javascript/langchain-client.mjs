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
  expectBroken,
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

// The older package of Google's below LangChain's reads each stream twice, and catches the error of
// one reader.
process.on('unhandledRejection', (problem) => console.error(problem));

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
  async streams(model) {
    const declared = {
      name: 'get_weather',
      description: 'The weather of a city',
      schema: City,
    };
    let whole;
    for await (const chunk of await model.bindTools([tool(getWeather, declared)]).stream(question))
      whole = whole === undefined ? chunk : whole.concat(chunk);
    const calls = whole.tool_calls.map((call) => [call.name, call.args]);
    assert.deepEqual(calls, [['get_weather', { city: 'Paris' }]]);
    let pieces = 0;
    for await (const { text } of await model.stream(name)) if (text !== '') pieces += 1;
    assert.ok(pieces > 1, `${pieces} pieces`);
  },
  async errors(model, id, modelOf) {
    await expectRefused(404, () => modelOf('no-such').invoke(name));
    await expectBroken(modelOf(failing).stream(name));
  },
});
