import OpenAI, { APIError, BadRequestError, NotFoundError, toFile } from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { imageModels } from '../sim/images/catalog.ts';
import { ownImageModels } from '../sim/own-images/catalog.ts';
import { imageOf } from '../sim/media/png.ts';
import { shown } from './support/images.ts';
import { openSimulatedGateway, type Temporary } from './support/temporary.ts';

/** The calls of the official package for pictures, as its readers write them, over every vendor. */
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

const house = imageOf('a house', 512, 512);
const hole = imageOf('a hole', 512, 512, true);
const file = (bytes: Buffer, name = 'house.png') => toFile(bytes, name, { type: 'image/png' });

test.each(
  imageModels.filter(({ upstream }) => upstream !== 'qwen-image-edit-plus').map(({ id }) => id),
)('images.generate: %s', async (model) => {
  const { created, data = [] } = await client.images.generate({
    model,
    prompt: 'a siamese cat',
    n: 2,
    size: '1024x1024',
    response_format: 'b64_json',
  });
  expect(created).toBeGreaterThan(1_700_000_000);
  expect(data).toHaveLength(2);
  for (const { b64_json = '' } of data)
    expect(await shown({ b64_json })).toMatchObject({
      words: expect.stringContaining('a siamese cat'),
    });
});

test.each(imageModels.filter(({ reads }) => reads).map(({ id }) => id))(
  'images.edit, one picture and several: %s',
  async (model) => {
    const one = await client.images.edit({
      model,
      image: await file(house),
      prompt: 'paint it red',
    });
    const several = await client.images.edit({
      model,
      image: [await file(house), await file(house, 'second.png')],
      prompt: 'join them',
    });
    for (const { data = [] } of [one, several])
      expect(data[0]?.url ?? data[0]?.b64_json).toBeDefined();
  },
);

test('clients of models that never gave addresses find their bytes where they were', async () => {
  const { data = [] } = await client.images.generate({ model: 'gpt-image-2', prompt: 'a cat' });
  expect(await shown({ b64_json: data[0]?.b64_json ?? '' })).toMatchObject({
    words: 'a cat',
    width: 1024,
  });
});

test('images.edit with a mask, and images.createVariation', async () => {
  const masked = await client.images.edit({
    model: 'gpt-image-2',
    image: await file(house),
    mask: await file(hole, 'mask.png'),
    prompt: 'fill it',
  });
  expect(masked.usage?.total_tokens).toBeGreaterThan(0);
  const varied = await client.images.createVariation({
    model: 'dall-e-2',
    image: await file(house),
    n: 2,
    size: '512x512',
  });
  expect(varied.data).toHaveLength(2);
  expect((await fetch(varied.data?.[0]?.url ?? '')).status).toBe(200);
});

test('images.generate and images.edit as streams', async () => {
  const stream = await client.images.generate({
    model: 'gpt-image-2',
    prompt: 'a cat',
    stream: true,
    partial_images: 2,
  });
  const types: string[] = [];
  for await (const event of stream) {
    types.push(event.type);
    expect(await shown({ b64_json: event.b64_json })).toMatchObject({ format: 'PNG' });
    if (event.type === 'image_generation.completed')
      expect(event.usage.output_tokens).toBeGreaterThan(0);
  }
  expect(types).toEqual([
    'image_generation.partial_image',
    'image_generation.partial_image',
    'image_generation.completed',
  ]);
  const edited: string[] = [];
  for await (const event of await client.images.edit({
    model: 'gemini-3-pro-image',
    image: await file(house),
    prompt: 'red',
    stream: true,
  }))
    edited.push(event.type);
  expect(edited).toEqual(['image_edit.completed']);
});

test('refusals have the classes and parameters that the package promises', async () => {
  const failure = (promise: Promise<unknown>): Promise<APIError> =>
    promise.then(
      () => Promise.reject(new Error('it succeeded')),
      (error: unknown) => (error instanceof APIError ? error : Promise.reject(error as Error)),
    );
  const size = await failure(
    client.images.generate({ model: 'dall-e-3', prompt: 'a cat', size: '512x512' }),
  );
  expect(size).toBeInstanceOf(BadRequestError);
  expect(size).toMatchObject({ param: 'size', code: 'invalid_request_error' });
  const unknown = await failure(client.images.generate({ model: 'dall-e-9', prompt: 'a cat' }));
  expect(unknown).toBeInstanceOf(NotFoundError);
  expect(unknown.code).toBe('model_not_found');
  const text = await failure(
    client.images.edit({
      model: 'gpt-image-2',
      image: await toFile(Buffer.from('hello'), 'a.png', { type: 'image/png' }),
      prompt: 'red',
    }),
  );
  expect(text).toMatchObject({ status: 400, param: 'image' });
});

test.each(ownImageModels.map(({ id }) => id).filter((id) => !/fill|inpaint|gen4|kontext/.test(id)))(
  'images.generate, of vendors that answer later or in bytes: %s',
  { timeout: 60_000 },
  async (model) => {
    const { data = [] } = await client.images.generate({
      model,
      prompt: 'a siamese cat',
      response_format: 'url',
    });
    expect((await fetch(data[0]?.url ?? '')).headers.get('content-type')).toMatch(/^image\//);
  },
);
