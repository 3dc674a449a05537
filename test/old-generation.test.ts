import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { choir, type Choir } from '../bench/cost/client.ts';
import { requestText, whole } from '../bench/cost/cost.ts';
import { hireGateway, type Hired } from '../bench/cost/payers.ts';

/*
 * What a request leaves in the old generation brings the collection of all of it nearer, which
 * stops everybody for many milliseconds. On Node 20 an object that begins with a spread and goes on
 * with members leaves some 240 bytes there (a hidden class of its own), and so does each entry that
 * comes and goes in a map that lives long.
 */
const bytesMax = 300;
const warmUp = 3_000;
const counted = 2_000;
const voices = 8;

const teller = fileURLToPath(new URL('support/old-generation.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tollgate-old-'));
const file = join(folder, 'old');
let hired: Hired;
let clients: Choir;

beforeAll(async () => {
  writeFileSync(file, '');
  hired = await hireGateway({
    vendor: 'openai-compatible',
    env: { NODE_OPTIONS: `--import=${teller}`, OLD_FILE: file },
  });
  clients = await choir(hired.payer.port, voices);
});

afterAll(async () => {
  clients.close();
  await hired.stop();
  rmSync(folder, { recursive: true });
});

interface Held {
  readonly bytes: number;
  readonly collected: number;
}

async function held(): Promise<Held> {
  const lines = (): string[] => readFileSync(file, 'utf8').split('\n').slice(0, -1);
  const before = lines().length;
  process.kill(hired.payer.pid, 'SIGUSR2');
  while (lines().length === before) await wait(20);
  const [bytes = 0, collected = 0] = (lines().at(-1) ?? '').split(' ').map(Number);
  return { bytes, collected };
}

async function ask(request: string, times: number): Promise<void> {
  for (let asked = 0; asked < times; asked += voices) await clients.ask(() => request);
}

/** Measured again when the old generation was collected meanwhile. */
async function bytesLeft(request: string): Promise<number> {
  for (;;) {
    const before = await held();
    await ask(request, counted);
    const after = await held();
    if (after.collected === before.collected) return (after.bytes - before.bytes) / counted;
  }
}

const { messages } = JSON.parse(whole);

test.each([
  ['/v1/chat/completions', JSON.parse(whole)],
  ['/v1/responses', { model: 'm1', input: messages, max_output_tokens: 200, store: false }],
  [
    '/v1/messages',
    {
      model: 'm1',
      messages: messages.slice(1),
      system: 'You are a helpful assistant.',
      max_tokens: 200,
    },
  ],
])(
  'a request to %s leaves next to nothing that lives long',
  { timeout: 60_000 },
  async (path, body) => {
    const [key = ''] = hired.payer.keys;
    const request = requestText(key, JSON.stringify(body)).replace('/v1/chat/completions', path);
    await ask(request, warmUp);
    const left = await bytesLeft(request);
    console.info(`${path}: ${left.toFixed(0)} bytes of the old generation a request`);
    expect(left).toBeLessThan(bytesMax);
  },
);
