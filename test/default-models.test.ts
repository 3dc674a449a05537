import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { simConfig } from '../sim/catalog.ts';
import { type Sim, startSim } from '../sim/index.ts';
import { migrations } from '../src/app/schema.ts';
import { sqliteUrl } from './databases.ts';
import { png } from './sdk/sdk.ts';
import { configurationFrom, startRunning } from './support/running.ts';

let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
afterAll(() => sim.close());

const start = async (defaults: string) => {
  const configuration = simConfig(sim.url).replace(/^settings: .*$/m, defaults);
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    configuration,
    yuan: '1000',
  });
  return {
    running,
    client: new OpenAI({ baseURL: `${running.url}/v1`, apiKey: running.key, maxRetries: 0 }),
  };
};
const picture = () => toFile(Buffer.from(png, 'base64'), 'one.png', { type: 'image/png' });

test('C10: pictures and films may be asked for without a model, as OpenAI’s package may', async () => {
  // The first of a list that the key can use, and that does what is asked: dall-e-3 edits nothing.
  const { running, client } = await start(
    'settings: { default_models: { image: [dall-e-3, gpt-image-1], video: sora-2 } }',
  );
  expect((await client.images.generate({ prompt: 'A fox', model: null })).data?.length).toBe(1);
  expect((await client.images.edit({ prompt: 'A fox', image: await picture() })).data?.length).toBe(
    1,
  );
  expect((await client.videos.create({ prompt: 'A fox runs' })).model).toBe('sora-2');
  await expect
    .poll(async () => (await running.usage()).map((row) => row['model']).slice(0, 2))
    .toEqual(['dall-e-3', 'gpt-image-1']);
  const confined = await running.newKey({ models: ['gpt-image-1'] });
  const other = new OpenAI({
    baseURL: `${running.url}/v1`,
    apiKey: confined.secret,
    maxRetries: 0,
  });
  expect((await other.images.generate({ prompt: 'A fox' })).data?.length).toBe(1);
  await expect.poll(async () => (await running.usage()).at(2)?.['model']).toBe('gpt-image-1');
  await expect(other.videos.create({ prompt: 'A fox runs' })).rejects.toMatchObject({
    status: 400,
    param: 'model',
  });
});

test('C10: without a default the refusal says so', async () => {
  const { client } = await start('');
  const image = await picture();
  const message = (what: string) => ({
    status: 400,
    param: 'model',
    message: `400 Missing required parameter: 'model'. This gateway has no default model for ${what}. Choose an id from GET /v1/models.`,
  });
  await expect(client.images.generate({ prompt: 'A fox' })).rejects.toMatchObject(
    message('images'),
  );
  await expect(client.images.edit({ prompt: 'A fox', image })).rejects.toMatchObject(
    message('images'),
  );
  await expect(client.images.createVariation({ image })).rejects.toMatchObject(message('images'));
  await expect(client.videos.create({ prompt: 'A fox runs' })).rejects.toMatchObject(
    message('videos'),
  );
  await expect(client.images.generate({ prompt: 'A fox', model: '' })).rejects.toMatchObject({
    status: 400,
    param: 'model',
  });
  await expect(client.videos.create({ prompt: 'A fox', model: '' })).rejects.toMatchObject({
    status: 400,
    param: 'model',
  });
});

test('C10: a default that is not sold, or is of another kind, is a mistake of the configuration', async () => {
  const wrong = simConfig(sim.url).replace(
    /^settings: .*$/m,
    'settings: { default_models: { image: [gpt-4o], video: [sora-9] } }',
  );
  const told = await configurationFrom(wrong).catch(String);
  expect(told).toContain("'gpt-4o' is a model of another kind");
  expect(told).toContain("'sora-9' is sold over no channel, did you mean 'sora-2'?");
});
