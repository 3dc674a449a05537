import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sim, startSim } from '../sim/index.ts';
import { recordingsAt, recordingsFolder } from './recorded-traffic.ts';

/** The simulator was written from the vendor's documents; what was recorded of the vendor itself says whether they were read rightly. */
let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
afterAll(() => sim.close());

const recordings =
  recordingsFolder === undefined ? [] : recordingsAt(recordingsFolder, 'gemini').filter(({ request }) => request !== undefined);

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

describe.skipIf(recordings.length === 0)('recorded of Google', () => {
  test('what it took is taken', async () => {
    const refused: string[] = [];
    for (const { id, status, url, request } of recordings) {
      if (status !== 200 || !/:(?:stream)?[gG]enerateContent/.test(url)) continue;
      const to = here(url);
      const answer = await fetch(to.url, { method: 'POST', headers: to.headers, body: unsigned(request ?? {}) });
      const text = await answer.text();
      if (answer.status !== 200) refused.push(`${id} ${url.slice(-70)} ${answer.status} ${text.slice(0, 600)}`);
    }
    expect(refused).toEqual([]);
  });
});
