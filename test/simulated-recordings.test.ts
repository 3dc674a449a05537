import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sim, startSim } from '../sim/index.ts';
import { type Recording, recordingsAt, recordingsFolder } from './recorded-traffic.ts';

/** The simulator was written from the vendors' documents; what was recorded of the vendors themselves says whether they were read rightly. */
let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
afterAll(() => sim.close());

const taken = (endpoint: string, url: RegExp): Recording[] =>
  recordingsFolder === undefined
    ? []
    : recordingsAt(recordingsFolder, endpoint).filter((one) => one.status === 200 && one.request !== undefined && url.test(one.url));

const ofGoogle = taken('gemini', /:(?:stream)?[gG]enerateContent/);
const ofCohere = taken('nativechat', /api\.cohere\.(?:com|ai)\/v2\/chat/);

/** Where a recorded request goes here, and with what key. */
function here(url: string): { readonly url: string; readonly headers: Record<string, string> } {
  const { host, pathname: path, search } = new URL(url.replaceAll('<', '').replaceAll('>', ''));
  const vertex = /aiplatform|publishers/.test(host + path);
  // Proxies put words of their own before it.
  const pathname = path.slice(path.search(/\/v1(?:beta1?)?\/(?:models|projects|publishers)/));
  const query = search.replace(/[?&]key=[^&]*/, '').replace(/^&/, '?');
  return {
    url: `${sim.url}/${vertex ? 'vertex' : 'gemini'}${pathname}${query}`,
    headers: vertex ? { authorization: 'Bearer ya29.sim' } : { 'x-goog-api-key': 'k' },
  };
}

/** Signatures are their vendor's secret: here the word stands for them that every model takes. */
const unsigned = (request: object): string =>
  JSON.stringify(request).replace(/"(thought_?[sS]ignature)":"[^"]*"/g, '"$1":"skip_thought_signature_validator"');

/** Each request that is refused here, with the refusal. */
async function refused(
  recordings: readonly Recording[],
  send: (recording: Recording) => { readonly url: string; readonly headers: Record<string, string>; readonly body: string },
): Promise<string[]> {
  const all: string[] = [];
  for (const recording of recordings) {
    const { url, ...request } = send(recording);
    const answer = await fetch(url, { method: 'POST', ...request });
    const text = await answer.text();
    if (answer.status !== 200) all.push(`${recording.id}: ${answer.status} ${text.slice(0, 600)}`);
  }
  return all;
}

test.skipIf(ofGoogle.length === 0)('what Google took is taken', async () => {
  expect(ofGoogle.length).toBeGreaterThan(500);
  expect(await refused(ofGoogle, ({ url, request = {} }) => ({ ...here(url), body: unsigned(request) }))).toEqual([]);
});

test.skipIf(ofCohere.length === 0)('what Cohere took is taken', async () => {
  expect(ofCohere.length).toBeGreaterThan(50);
  const to = { url: `${sim.url}/cohere/v2/chat`, headers: { authorization: 'Bearer k' } };
  expect(await refused(ofCohere, ({ request }) => ({ ...to, body: JSON.stringify(request) }))).toEqual([]);
});
