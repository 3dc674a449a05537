import { expect, test } from 'vitest';
import { wav } from '../sim/media/wav.ts';
import { type FreshDatabase, forEachDatabase } from './databases.ts';
import { quickTasks } from './support/film-vendor.ts';
import { type Running, startRunning } from './support/running.ts';
import { type ScriptedVendor, startVendor } from './support/scripted-vendor.ts';

/** Prices that show at a glance what was charged for. */
const configuration = (url: string): string => `
groups:
  - { name: default, price_multiplier: 1.0 }
models:
  - { id: film, owned_by: openai, kind: video, durations: [5, 10], price: { second: 0.7 } }
  - { id: image, owned_by: openai, kind: image, image: { sizes: [1024x1024] }, price: { image: 1 } }
  - { id: voice, owned_by: openai, kind: speech, price: { character: 0.01 } }
  - { id: ear, owned_by: openai, kind: transcription, price: { second: 0.01 } }
channels:
  - { name: all, vendor: openai-compatible, base_url: "${url}/v1", api_key: 3f2a9c-up-key, models: [film, image, voice, ear] }
`;

interface Started {
  readonly vendor: ScriptedVendor;
  readonly running: Running;
}

async function startOn(fresh: () => Promise<FreshDatabase>, yuan = '10'): Promise<Started> {
  const vendor = await startVendor();
  const databaseUrl = (await fresh()).url;
  const running = await startRunning({ databaseUrl, configuration: configuration(vendor.url), yuan, taskLimits: quickTasks });
  return { vendor, running };
}

const film = { model: 'film', prompt: 'A wave', duration: 5, async: true };

forEachDatabase((_name, _open, fresh) => {
  test('nothing that is priced is smuggled past its price', async () => {
    const { vendor, running } = await startOn(fresh);
    const cheap: readonly (readonly [string, object, object])[] = [
      ['/v1/audio/speech', { model: 'voice', input: 'a', voice: 'alloy' }, { Input: 'a'.repeat(4_000) }],
      ['/v1/images/generations', { model: 'image', prompt: 'a' }, { Size: '4096x4096' }],
      ['/v1/images/generations', { model: 'image', prompt: 'a' }, { QUALITY: 'high' }],
      ['/v1/video/generations', film, { Duration: 10 }],
    ];
    for (const [path, body, more] of cheap) {
      const reply = await running.post(path, { ...body, ...more });
      expect([reply.status, await reply.json()]).toMatchObject([400, { error: { param: Object.keys(more)[0] } }]);
    }
    for (const elsewhere of ['url', 'file_url']) {
      const form = new FormData();
      form.append('model', 'ear');
      form.append('file', new Blob([new Uint8Array(wav('Hi'))]), 'a.wav');
      form.append(elsewhere, 'https://example.com/ten-hours.mp3');
      const headers = { authorization: `Bearer ${running.key}` };
      const reply = await fetch(`${running.url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form });
      expect([reply.status, await reply.json()]).toMatchObject([400, { error: { param: elsewhere } }]);
    }
    expect(vendor.received).toHaveLength(0);
    expect(await running.balance()).toBe('10.00');
  });
});
