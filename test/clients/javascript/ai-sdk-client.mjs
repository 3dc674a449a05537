// AI SDK: OpenAI's provider over Responses and chat, the one for compatible servers, Anthropic's and
// Google's.
import assert from 'node:assert/strict';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { embedMany, generateText, isStepCount, Output, streamText, tool, uploadFile } from 'ai';
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

const openai = createOpenAI({ baseURL, apiKey });
const compatible = createOpenAICompatible({
  name: 'tollgate',
  baseURL,
  apiKey,
  includeUsage: true,
  supportsStructuredOutputs: true,
});
const anthropic = createAnthropic({ baseURL, apiKey });
const google = createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey });
const once = { maxRetries: 0 };

const doors = {
  chat: (model) => openai.chat(model),
  'chat (compatible)': (model) => compatible(model),
  responses: (model) => openai(model),
  messages: (model) => anthropic(model),
  gemini: (model) => google(model),
};

await play(doors, {
  async tools(model) {
    const tools = {
      get_weather: tool({
        description: 'The weather of a city',
        inputSchema: City,
        execute: getWeather,
      }),
    };
    const { text } = await streamed({
      ...once,
      model,
      tools,
      stopWhen: isStepCount(3),
      prompt: question,
    });
    expectWords(weather, text);
  },
  async 'second turn'(model) {
    const first = [{ role: 'user', content: name }];
    const { response, responseMessages } = await generateText({ ...once, model, messages: first });
    const messages = [
      ...first,
      ...(responseMessages ?? response.messages),
      { role: 'user', content: who },
    ];
    const { text } = await streamed({ ...once, model, messages });
    expectWords(secondTurn, text);
  },
  async schema(model) {
    const { output } = await generateText({
      ...once,
      model,
      output: Output.object({ schema: Person }),
      prompt: person,
    });
    expectAda(output);
  },
  async pictures(model, id) {
    const content = [
      { type: 'file', mediaType: 'image/png', data: picture },
      { type: 'text', text: what },
    ];
    const messages = [{ role: 'user', content }];
    await expectSight(id, async () => (await generateText({ ...once, model, messages })).text);
  },
  async streams(model) {
    const tools = {
      get_weather: tool({ description: 'The weather of a city', inputSchema: City }),
    };
    const { calls } = await streamed({ ...once, model, tools, prompt: question });
    assert.deepEqual(calls, [['get_weather', { city: 'Paris' }]]);
    const { pieces, usage } = await streamed({ ...once, model, prompt: name });
    assert.ok(pieces > 1 && usage.inputTokens > 0 && usage.outputTokens > 0);
  },
  async errors(model, id, modelOf) {
    const ask = (more) => generateText({ ...once, model, prompt: name, ...more });
    await expectRefused(404, () => ask({ model: modelOf('no-such') }));
    await assert.rejects(
      () => streamed({ ...once, model: modelOf(failing), prompt: name }),
      (problem) => problem.pieces > 0,
    );
  },
});
await play(
  { gemini: (model) => model },
  {
    async files(model) {
      const api = google.files();
      const { providerReference } = await uploadFile({
        api,
        data: Buffer.from(picture, 'base64'),
        mediaType: 'image/png',
      });
      const content = [
        { type: 'file', mediaType: 'image/png', data: providerReference },
        { type: 'text', text: what },
      ];
      const messages = [{ role: 'user', content }];
      const asked = { ...once, model: google(model), messages };
      await expectSight(model, async () => (await generateText(asked)).text);
    },
    async vectors(model) {
      for (const one of ['gemini-embedding-001', 'text-embedding-3-small']) {
        const asked = { ...once, model: google.embeddingModel(one), values: [name, who, model] };
        const { embeddings } = await embedMany(asked);
        assert.ok(embeddings.length === 3 && embeddings.every((each) => each.length > 100));
      }
    },
  },
);

async function streamed(options) {
  let failure;
  const result = streamText({ ...options, onError: ({ error }) => (failure = error) });
  let text = '';
  let pieces = 0;
  const calls = [];
  try {
    for await (const part of result.fullStream)
      if (part.type === 'tool-call') calls.push([part.toolName, part.input]);
      else if (part.type === 'text-delta') {
        text += part.text;
        pieces += 1;
      }
  } catch (problem) {
    failure ??= problem;
  }
  if (failure !== undefined)
    throw Object.assign(new Error(`the stream failed: ${failure?.message}`), { pieces });
  return { text, pieces, calls, usage: await result.usage };
}
