// AI SDK: OpenAI's provider over Responses and chat, the one for compatible servers, and Anthropic's.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount, Output, streamText, tool } from 'ai';
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
  weather,
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
const once = { maxRetries: 0 };

const doors = {
  chat: (model) => openai.chat(model),
  'chat (compatible)': (model) => compatible(model),
  responses: (model) => openai(model),
  messages: (model) => anthropic(model),
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
});

async function streamed(options) {
  let failure;
  const result = streamText({ ...options, onError: ({ error }) => (failure = error) });
  let text = '';
  for await (const part of result.textStream) text += part;
  if (failure !== undefined)
    throw new Error(`the stream failed: ${failure?.message}`, { cause: failure });
  return { text };
}
