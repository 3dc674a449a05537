import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { OpenAIEmbeddings } from '@langchain/openai';
import { type EmbeddingModel, embedMany } from 'ai';
import { encode } from 'gpt-tokenizer/encoding/cl100k_base';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { vectorModels } from '../sim/vectors/catalog.ts';
import { vendors } from '../src/providers/index.ts';
import { openSimulatedGateway, type Temporary } from './support/temporary.ts';

/**
 * The official package, and every vendor of the simulator that makes vectors, verdicts and scores.
 */
let temporary: Temporary;
let client: OpenAI;

beforeAll(async () => {
  temporary = await openSimulatedGateway();
  client = new OpenAI({
    baseURL: `${temporary.gateway.url}/v1`,
    apiKey: temporary.key,
    maxRetries: 0,
  });
});
afterAll(() => temporary.close());

const modelsOf = (kind: string): string[] =>
  vectorModels.filter((model) => model.kind === kind).map(({ id }) => id);
const cosine = (a: readonly number[] = [], b: readonly number[] = []): number =>
  a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);

test('what the vendor does not get is named in a header, the encoding apart', async () => {
  const ask = async (more: object) => {
    const { response } = await client.embeddings
      .create({ model: 'mistral-embed', input: 'one', ...more })
      .withResponse();
    return response.headers.get('x-tollgate-dropped');
  };
  expect(await ask({ encoding_format: 'base64' })).toBeNull();
  expect(await ask({ user: 'ada' })).toBe('user');
});

describe.each(modelsOf('embedding'))('%s', (model) => {
  test('similar texts have similar vectors, in numbers as in the package’s own encoding', async () => {
    const input = ['the cat sat on the mat', 'a cat sat on a mat', 'quarterly revenue grew'];
    const answer = await client.embeddings.create({ model, input });
    const floats = await client.embeddings.create({ model, input, encoding_format: 'float' });
    expect(answer.model).toBe(model);
    expect(answer.data.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(answer.usage.total_tokens).toBeGreaterThan(10);
    expect(floats.usage).toEqual(answer.usage);
    const [cat, twin, money] = answer.data.map(({ embedding }) => embedding);
    expect(cat?.length).toBeGreaterThan(500);
    expect(cosine(cat, twin)).toBeGreaterThan(cosine(cat, money) + 0.2);
    for (const [i, { embedding }] of floats.data.entries()) {
      expect(Array.isArray(embedding)).toBe(true);
      expect(embedding.map(Math.fround)).toEqual(answer.data[i]?.embedding.map(Math.fround));
    }
  });

  test('dimensions are as asked, and a list of one text is a list', async () => {
    const dimensions = 512;
    // whose sizes are a choice of few
    if (/titan|nova|embed-v4|multilingual-v3/.test(model)) return;
    const answer = await client.embeddings.create({ model, input: ['one'], dimensions });
    expect(answer.data).toHaveLength(1);
    expect(answer.data[0]?.embedding).toHaveLength(dimensions);
  });
});

test('more texts than a vendor takes at a time come back in order', async () => {
  const input = Array.from({ length: 25 }, (_, i) => `text number ${i}`);
  for (const model of [
    'text-embedding-v4',
    'titan-embed-text-v2',
    'bge-m3',
    'gemini-embedding-001',
  ]) {
    const all = await client.embeddings.create({ model, input });
    const [last] = (await client.embeddings.create({ model, input: 'text number 24' })).data;
    expect(all.data.map(({ index }) => index)).toEqual(input.map((_, i) => i));
    expect(all.data[24]?.embedding).toEqual(last?.embedding);
  }
});

test('tokens pass to models that read them', async () => {
  const { usage } = await client.embeddings.create({
    model: 'text-embedding-3-small',
    input: [[1111, 2222, 3333], [4444]],
  });
  expect(usage.prompt_tokens).toBe(4);
});

describe('C5: token ids for vendors that read text', () => {
  const texts = ['Hello, world!', '你好，世界 🦊', 'one two three'];

  const readers = vectorModels.filter(
    ({ kind, vendor }) =>
      kind === 'embedding' && vendors.get(vendor)?.adapters.embeddings?.textOnly === true,
  );

  test.each(readers.map(({ id }) => id))('%s gives the vectors of the text', async (model) => {
    const input = texts.map((text) => encode(text));
    const { data: byText } = await client.embeddings.create({ model, input: texts });
    const { data } = await client.embeddings.create({ model, input });
    expect(data.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(data).toEqual(byText);
    const { data: one } = await client.embeddings.create({ model, input: input[0] ?? [] });
    expect(one[0]?.embedding).toEqual(byText[0]?.embedding);
  });

  test('what is no token is named, whatever the shape, and costs nothing', async () => {
    const said = (param: string, id: number) => ({
      status: 400,
      param,
      message: expect.stringContaining(
        `${id} is no token of cl100k_base, in which token ids are read for this model. Send text instead.`,
      ),
    });
    const create = (input: number[] | number[][]) =>
      client.embeddings.create({ model: 'gemini-embedding-001', input });
    await expect(create([1, 2, 100_256])).rejects.toMatchObject(said('input[2]', 100_256));
    await expect(create([[1], [2, 4_000_000_000]])).rejects.toMatchObject(
      said('input[1][1]', 4_000_000_000),
    );
    await expect(create([[100_261]])).rejects.toMatchObject(said('input[0][0]', 100_261));
    const long = Array.from({ length: 300_001 }, () => 7);
    await expect(create(long)).rejects.toMatchObject({
      status: 400,
      param: 'input',
      message: expect.stringContaining('at most 300000 tokens'),
    });
    expect((await create([100_257, 100_276])).data.length).toBe(1);
    await temporary.expectBooks();
  });
});

const values = Array.from({ length: 12 }, (_, i) => `a text that says ${i}`);

test.each(modelsOf('embedding'))('other packages get the same vectors of %s', async (model) => {
  const { data } = await client.embeddings.create({ model, input: values });
  const [first] = data;
  const { baseURL } = client;
  const apiKey = temporary.key;
  const theirs: readonly EmbeddingModel[] = [
    createOpenAI({ baseURL, apiKey }).embedding(model),
    createOpenAICompatible({ name: 'gateway', baseURL, apiKey }).embeddingModel(model),
  ];
  for (const one of theirs) {
    const { embeddings, usage } = await embedMany({ model: one, values, maxRetries: 0 });
    expect(embeddings).toHaveLength(12);
    expect(embeddings[0]?.map(Math.fround)).toEqual(first?.embedding.map(Math.fround));
    expect(usage.tokens).toBeGreaterThan(12);
  }
  const langchain = new OpenAIEmbeddings({
    model,
    apiKey,
    maxRetries: 0,
    configuration: { baseURL },
  });
  const documents = await langchain.embedDocuments(values);
  expect(documents[0]?.map(Math.fround)).toEqual(first?.embedding.map(Math.fround));
});

test.each(modelsOf('moderation'))(
  'moderation: %s flags what it should, and nothing else',
  async (model) => {
    const { results } = await client.moderations.create({
      model,
      input: ['Have a great day!', 'I will kill you'],
    });
    expect(results.map(({ flagged }) => flagged)).toEqual([false, true]);
  },
);

test('moderation without a model asks the usual one', async () => {
  const answer = await client.moderations.create({ input: 'Have a great day!' });
  expect(answer).toMatchObject({
    id: expect.stringMatching(/^modr-/),
    model: 'omni-moderation-latest',
    results: [{ flagged: false }],
  });
});

test.each(modelsOf('rerank'))('rerank: %s puts the answer first', async (model) => {
  const documents = [
    'Carson City is the capital of Nevada.',
    { text: 'The capital of France is Paris.' },
    'Bread is baked.',
  ];
  const asked = {
    model,
    query: 'What is the capital of France?',
    documents,
    top_n: 2,
    return_documents: true,
  };
  const answer: unknown = await client.post('/rerank', { body: asked });
  expect(answer).toMatchObject({
    model,
    results: [
      {
        index: 1,
        relevance_score: expect.any(Number),
        document: { text: 'The capital of France is Paris.' },
      },
      { index: 0, document: { text: documents[0] } },
    ],
  });
});

test('the books are in order', () => temporary.expectBooks());
