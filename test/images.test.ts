import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { imageModels } from '../sim/images/catalog.ts';
import { simConfig } from '../sim/catalog.ts';
import { decodeImage } from '../sim/image.ts';
import { type Sim, startSim } from '../sim/index.ts';
import { pictureOf, wordsIn } from '../sim/media/png.ts';
import { onSqlite } from './databases.ts';
import { type Running, startRunning } from './support/running.ts';

let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
afterAll(() => sim.close());
beforeEach(() => sim.clear());

interface Made {
  readonly created: number;
  readonly data: readonly { readonly url?: string; readonly b64_json?: string }[];
  readonly usage?: { readonly output_tokens: number };
  readonly error: { readonly message: string; readonly type: string; readonly param: string | null; readonly code: string };
}

const made = async (reply: Response): Promise<Made> => JSON.parse(await reply.text());

/** What a picture shows, wherever it is. */
async function shown({ url, b64_json: base64 }: Made['data'][number]) {
  const bytes = base64 === undefined ? Buffer.from(await (await fetch(url ?? '')).arrayBuffer()) : Buffer.from(base64, 'base64');
  return { words: wordsIn(bytes), ...decodeImage(`data:;base64,${bytes.toString('base64')}`) };
}

function form(fields: Readonly<Record<string, string>>, files: Readonly<Record<string, Buffer>>): FormData {
  const made = new FormData();
  for (const [name, value] of Object.entries(fields)) made.append(name, value);
  for (const [name, bytes] of Object.entries(files)) made.append(name, new Blob([new Uint8Array(bytes)], { type: 'image/png' }), `${name}.png`);
  return made;
}

const send = (running: Running, path: string, body: FormData, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(running.url + path, { method: 'POST', headers: { authorization: `Bearer ${running.key}`, ...headers }, body });

onSqlite((_, __, fresh) => {
  const start = async (yuan = '100'): Promise<Running> =>
    startRunning({ databaseUrl: (await fresh()).url, configuration: simConfig(sim.url, ['sim-gone-picture', 'sim-broken-picture', 'sim-policy', 'sim-500', 'sim-429', 'sim-no-usage']), yuan });

  test('every model that makes pictures makes one, at an address of ours that needs no key', { timeout: 60_000 }, async () => {
    const running = await start();
    for (const { id } of imageModels) {
      if (id === 'qwen-image-edit-plus') continue;
      const reply = await running.post('/v1/images/generations', { model: id, prompt: `a ${id}`, size: '1024x1024', response_format: 'url' });
      const { created, data, error } = await made(reply);
      expect(error, id).toBeUndefined();
      expect(created, id).toBeGreaterThan(1_700_000_000);
      expect(data, id).toHaveLength(1);
      expect(data[0]?.url, id).toMatch(new RegExp(`^${running.url}/files/file_`));
      expect(await shown(data[0] ?? {}), id).toMatchObject({ words: expect.stringContaining(`a ${id}`), format: 'PNG' });
    }
    await running.expectBooks();
  });
});
