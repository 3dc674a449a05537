import { expect, test } from 'vitest';
import { imageOf } from '../sim/media/png.ts';
import { migrations } from '../src/app/schema.ts';
import { sqliteUrl } from './databases.ts';
import { imageForm, made, sendForm } from './support/images.ts';
import { startRunning } from './support/running.ts';

const config = `
groups:
  - { name: default, price_multiplier: 1.0 }
models:
  - { id: ideogram-v3, owned_by: ideogram, kind: image, price: { image: 0.4 } }
channels:
  - { name: one, vendor: ideogram, base_url: "http://127.0.0.1:9", api_key: k, groups: [default], models: [ideogram-v3] }
`;

test('a request that a channel cannot make says nothing of the channel: it is still probed', async () => {
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    configuration: config,
    yuan: '10',
  });
  const { health, clock } = running.gateway.parts;
  const id = 'one@1';
  const overloaded = { kind: 'overloaded', message: 'busy' } as const;
  for (let n = 0; n < 20; n++) health.faulted(id, overloaded, clock.monotonicMs());
  const before = health.state(id, clock.monotonicMs());
  expect(before.breaker).toBe('open');
  const house = imageOf('a house', 64, 48);
  const reply = await sendForm(
    running,
    '/v1/images/edits',
    imageForm({ model: 'ideogram-v3', prompt: 'red' }, [
      ['image', house],
      ['image', house],
    ]),
  );
  expect([reply.status, (await made(reply)).error?.message]).toEqual([
    400,
    expect.stringContaining('takes one picture'),
  ]);
  expect(health.state(id, clock.monotonicMs())).toEqual(before);
});
