import {
  ApiError,
  FunctionCallingConfigMode,
  type GenerateContentResponse,
  GoogleGenAI,
  ThinkingLevel,
} from '@google/genai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sim, startSim } from '../index.ts';

/** Google's own SDK, configured for the simulator. */
let sim: Sim;
let gemini: GoogleGenAI;
let vertex: GoogleGenAI;
beforeAll(async () => {
  sim = await startSim();
  gemini = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: `${sim.url}/gemini` } });
  vertex = new GoogleGenAI({
    vertexai: true,
    apiKey: 'k',
    httpOptions: { baseUrl: `${sim.url}/vertex` },
  });
});
afterAll(() => sim.close());

const weather = {
  name: 'get_weather',
  description: 'The weather of a city',
  parametersJsonSchema: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  },
};
const tools = [{ functionDeclarations: [weather] }];
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

async function gathered(
  stream: AsyncGenerator<GenerateContentResponse>,
): Promise<{ text: string; all: GenerateContentResponse[] }> {
  const all: GenerateContentResponse[] = [];
  let text = '';
  for await (const chunk of stream) {
    all.push(chunk);
    for (const part of chunk.candidates?.[0]?.content?.parts ?? [])
      if (part.thought !== true) text += part.text ?? '';
  }
  return { text, all };
}

describe.each([
  ['the Gemini API', () => gemini],
  ['Vertex', () => vertex],
])('%s', (_name, client) => {
  const ask = (contents: string, config = {}, model = 'gemini-2.5-flash') =>
    client().models.generateContent({ model, contents, config });

  test('says the same whole and in a stream, and its counts add up', async () => {
    const contents = 'Why is the sea salt? “Weil…” 海';
    const whole = await ask(contents);
    expect(whole.text).toContain(contents);
    expect(whole).toMatchObject({
      modelVersion: 'gemini-2.5-flash',
      candidates: [{ finishReason: 'STOP', content: { role: 'model' } }],
    });
    const stream = await gathered(
      await client().models.generateContentStream({ model: 'gemini-2.5-flash', contents }),
    );
    expect(stream.text).toBe(whole.text);
    expect(stream.all.length).toBeGreaterThan(5);
    const last = stream.all.at(-1);
    expect(last?.candidates?.[0]?.finishReason).toBe('STOP');
    for (const usage of [whole.usageMetadata, last?.usageMetadata]) {
      const {
        promptTokenCount = 0,
        candidatesTokenCount = 0,
        thoughtsTokenCount = 0,
        totalTokenCount,
      } = usage ?? {};
      expect(thoughtsTokenCount).toBeGreaterThan(0);
      expect(totalTokenCount).toBe(promptTokenCount + candidatesTokenCount + thoughtsTokenCount);
    }
  });

  test('thinks aloud when asked to, and not at all when told not to', async () => {
    const aloud = await ask('Why?', {
      thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 },
    });
    expect(aloud.candidates?.[0]?.content?.parts?.[0]).toMatchObject({
      thought: true,
      text: expect.stringContaining('should think'),
    });
    const stream = await client().models.generateContentStream({
      model: 'gemini-3-flash-preview',
      contents: 'Why?',
      config: { thinkingConfig: { includeThoughts: true, thinkingLevel: ThinkingLevel.HIGH } },
    });
    const { all } = await gathered(stream);
    expect(all[0]?.candidates?.[0]?.content?.parts?.[0]).toMatchObject({ thought: true });
    expect(all.at(-1)?.candidates?.[0]?.content?.parts?.[0]?.thoughtSignature).toBeTruthy();
    expect(
      (await ask('Why?', { thinkingConfig: { thinkingBudget: 0 } })).usageMetadata,
    ).not.toHaveProperty('thoughtsTokenCount');
  });

  test.each(['gemini-2.5-flash', 'gemini-3-flash-preview'])(
    'calls functions, whole and in a stream, and reads their results: %s',
    async (model) => {
      const chat = client().chats.create({ model, config: { tools } });
      const called = await chat.sendMessage({
        message: 'The weather in both Paris and Rome, please',
      });
      expect(called.functionCalls?.map(({ args }) => args)).toEqual([
        { city: 'Paris' },
        { city: 'Rome' },
      ]);
      const signatures = called.candidates?.[0]?.content?.parts?.map(
        ({ thoughtSignature }) => thoughtSignature !== undefined,
      );
      expect(signatures).toEqual([true, false]);
      const results = (called.functionCalls ?? []).map(({ name = '', id }, i) => ({
        functionResponse: {
          name,
          ...(id === undefined ? {} : { id }),
          response: { output: `2${i} degrees` },
        },
      }));
      expect((await chat.sendMessage({ message: results })).text).toContain('21 degrees');
      const stream = await chat.sendMessageStream({ message: 'And the weather in Oslo?' });
      const calls = (await gathered(stream)).all.flatMap((chunk) => chunk.functionCalls ?? []);
      expect(calls).toMatchObject([{ name: 'get_weather', args: { city: 'Oslo' } }]);
    },
  );

  test('sees an image', async () => {
    const contents = [
      { text: 'What is this?' },
      { inlineData: { mimeType: 'image/png', data: png } },
    ];
    expect(
      (await client().models.generateContent({ model: 'gemini-2.5-flash', contents })).text,
    ).toContain('a PNG image of 1×1 pixels');
  });

  test('answers by schema, in both ways of writing one', async () => {
    const properties = { name: { type: 'STRING' }, age: { type: 'INTEGER' } };
    const older = { type: 'OBJECT', properties, required: ['name', 'age'] };
    const newer = {
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'integer' } },
      required: ['name', 'age'],
    };
    for (const schema of [{ responseSchema: older }, { responseJsonSchema: newer }]) {
      const answer = await ask('Our guest is Ada Lovelace, 36 years old.', {
        responseMimeType: 'application/json',
        ...schema,
      });
      expect(JSON.parse(answer.text ?? '')).toEqual({ name: 'Ada Lovelace', age: 36 });
    }
  });

  test('stops where it must, says so, and counts', async () => {
    const short = await ask('Why?', { maxOutputTokens: 5, thinkingConfig: { thinkingBudget: 0 } });
    expect(short.candidates?.[0]?.finishReason).toBe('MAX_TOKENS');
    expect(short.usageMetadata?.candidatesTokenCount).toBe(5);
    const silent = await ask('Why?', { maxOutputTokens: 5 });
    expect(silent.candidates?.[0]).toMatchObject({
      content: { role: 'model' },
      finishReason: 'MAX_TOKENS',
    });
    expect(silent.text).toBeUndefined();
    const filtered = await ask('Why?', {}, 'gemini-2.5-flash+sim-filtered');
    expect(filtered.candidates?.[0]).toMatchObject({
      finishReason: 'SAFETY',
      safetyRatings: [{ blocked: true }],
    });
    const blocked = await ask('Why?', {}, 'sim-policy');
    expect(blocked.promptFeedback).toMatchObject({ blockReason: 'PROHIBITED_CONTENT' });
    const stream = await client().models.generateContentStream({
      model: 'sim-policy',
      contents: 'Why?',
    });
    expect(
      (await gathered(stream)).all.map(({ promptFeedback }) => promptFeedback?.blockReason),
    ).toEqual(['PROHIBITED_CONTENT']);
    const cached = await ask('Why?', {}, 'gemini-2.5-flash+sim-cached');
    expect(cached.usageMetadata?.cachedContentTokenCount).toBeGreaterThan(0);
    const searched = await ask('Why?', { tools: [{ googleSearch: {} }] });
    expect(searched.usageMetadata?.toolUsePromptTokenCount).toBeGreaterThan(0);
  });

  test('counts tokens', async () => {
    const { totalTokens } = await client().models.countTokens({
      model: 'gemini-2.5-flash',
      contents: 'What is the capital of France?',
    });
    expect(totalTokens).toBeGreaterThan(5);
  });

  test('refuses as the package expects', async () => {
    const failure = async (model: string, config = {}): Promise<unknown> =>
      ask('Hi', config, model).catch((error: unknown) => error);
    for (const [model, status] of [
      ['sim-400', 400],
      ['sim-404', 404],
      ['sim-429', 429],
      ['sim-500', 500],
      ['sim-503', 503],
      ['sim-context', 400],
      ['gpt-4o', 404],
    ] as const) {
      const error = await failure(model);
      expect(error, model).toBeInstanceOf(ApiError);
      expect(error, model).toMatchObject({ status });
    }
    expect(await failure('gemini-2.5-flash', { temperature: 3 })).toMatchObject({
      status: 400,
      message: expect.stringMatching(/temperature/),
    });
    expect(
      await failure('gemini-3-flash-preview', {
        thinkingConfig: { thinkingLevel: ThinkingLevel.LOW, thinkingBudget: 5 },
      }),
    ).toMatchObject({ status: 400 });
    const forced = {
      toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY } },
    };
    expect(await failure('gemini-2.5-flash', forced)).toMatchObject({
      status: 400,
      message: expect.stringContaining('function_declarations'),
    });
    const broken = client().models.generateContentStream({
      model: 'sim-error-in-stream',
      contents: 'Hi',
    });
    await expect(broken.then(gathered)).rejects.toMatchObject({ status: 500 });
  });
});

test('several texts of one content have one vector, as the package asks the second generation', async () => {
  const model = 'gemini-embedding-2';
  const { embeddings } = await gemini.models.embedContent({ model, contents: ['one', 'two'] });
  expect(embeddings).toHaveLength(1);
  expect(embeddings?.[0]?.values?.length).toBeGreaterThan(0);
});

test('the Gemini API lists and describes its models', async () => {
  const names: (string | undefined)[] = [];
  for await (const model of await gemini.models.list({ config: { pageSize: 3 } }))
    names.push(model.name);
  expect(names).toContain('models/gemini-3-flash-preview');
  expect(names.length).toBeGreaterThan(6);
  expect(await gemini.models.get({ model: 'gemini-2.5-pro' })).toMatchObject({
    name: 'models/gemini-2.5-pro',
    outputTokenLimit: 65_536,
  });
});

test('a rate limit says when to come back in its details, and in no header', async () => {
  const response = await fetch(
    `${sim.url}/gemini/v1beta/models/sim-429-48s:generateContent?key=k`,
    {
      method: 'POST',
      body: JSON.stringify({ contents: [{ parts: [{ text: 'Hi' }] }] }),
    },
  );
  expect(response.headers.get('retry-after')).toBeNull();
  expect(await response.json()).toMatchObject({
    error: {
      code: 429,
      status: 'RESOURCE_EXHAUSTED',
      details: expect.arrayContaining([expect.objectContaining({ retryDelay: '48s' })]),
    },
  });
});

test('a stream that nobody asked to be events is one growing list', async () => {
  const stream = (model: string) =>
    fetch(`${sim.url}/gemini/v1beta/models/${model}:streamGenerateContent?key=k`, {
      method: 'POST',
      body: JSON.stringify({ contents: [{ parts: [{ text: 'Hi' }] }] }),
    });
  const list: unknown = await (await stream('gemini-2.5-flash')).json();
  expect(Array.isArray(list)).toBe(true);
  const refused = await stream('sim-429');
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject([{ error: { code: 429 } }]);
});
