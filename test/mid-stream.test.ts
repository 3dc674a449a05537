import { describe, expect, test } from 'vitest';
import { eventsOf } from './responses-meaning.ts';
import { openSchema } from './responses-schema.ts';
import { type ClientSide, clientSides } from './support/client-formats.ts';
import { begin, said, type WireStory, wireStories } from './support/wire-stories.ts';
import { startWithVendor } from './support/with-vendor.ts';

/** A thousandth of a yuan for each token. */
const configuration = ({ vendor, path, upstream }: WireStory, url: string): string => `
models:
  - { id: m1, owned_by: someone, kind: chat, context: 128000, max_output: 1000, price: { input: 1000, output: 1000 } }
channels:
  - { name: a, vendor: ${vendor}, base_url: "${url}${path}", api_key: up-key, groups: [default], models: [{ id: m1, upstream: "${upstream}" }] }
`;

const start = (story: WireStory) => startWithVendor((url) => configuration(story, url));

const schema = openSchema();
const cells = wireStories.flatMap((story) =>
  clientSides.map((side): [string, string, WireStory, ClientSide] => [
    side.format,
    story.wire,
    story,
    side,
  ]),
);

describe.each(cells)('%s over %s', (_format, _wire, story, side) => {
  test('a client that leaves mid-stream stops the vendor within a second, and pays for what it got', async () => {
    const { vendor, running } = await start(story);
    const stopped = new Promise<number>((resolve) => {
      vendor.answer((_request, response) =>
        begin(response, story).on('close', () => resolve(performance.now())),
      );
    });
    const leaving = new AbortController();
    const response = await running.post(side.path, side.body('m1', true), {
      signal: leaving.signal,
    });
    const reader = response.body?.getReader();
    for (let got = ''; !got.includes(said); )
      got += Buffer.from((await reader?.read())?.value ?? []).toString();
    const leftAt = performance.now();
    leaving.abort();
    expect((await stopped) - leftAt).toBeLessThan(1_000);
    await expect
      .poll(() => running.usage())
      .toMatchObject([{ status: 'left', capability: side.format }]);
    const [record] = await running.usage();
    if (story.input === undefined) expect(Number(record?.['input_tokens'])).toBeGreaterThan(0);
    else expect(record?.['input_tokens']).toBe(story.input);
    expect(Number(record?.['output_tokens'])).toBeGreaterThan(0);
    expect(Number(record?.['output_tokens'])).toBeLessThan(10);
    expect(Number(await running.balance())).toBeCloseTo(100 - Number(record?.['cost']) / 1e9, 6);
    await running.expectBooks();
  });

  test('a client that leaves before a whole answer is there stops the vendor within a second, and got nothing to pay for', async () => {
    const { vendor, running } = await start(story);
    let stopped = false;
    const asked = new Promise<void>((resolve) => {
      vendor.answer((_request, response) => {
        response.on('close', () => {
          stopped = true;
        });
        resolve();
      });
    });
    const leaving = new AbortController();
    const answer = running
      .post(side.path, side.body('m1', false), { signal: leaving.signal })
      .catch(() => undefined);
    await asked;
    leaving.abort();
    await answer;
    await expect.poll(() => stopped, { timeout: 1_000, interval: 20 }).toBe(true);
    // What the vendor has read is looked up by its id, and costs nothing (R3).
    await expect
      .poll(() => running.usage())
      .toMatchObject([{ status: 'left', cost: 0n, output_tokens: 0n }]);
    expect(await running.balance()).toBe('100.00');
    await running.expectBooks();
  });

  test('an error inside the vendor’s stream is one inside the client’s, and what was delivered is charged', async () => {
    const { vendor, running } = await start(story);
    vendor.answer((_request, response) => begin(response, story).end(story.breaks));
    const text = await (await running.post(side.path, side.body('m1', true))).text();
    expect(text).toContain(said);
    expect(text).not.toMatch(side.ends);
    const events = [...text.matchAll(/^data: (\{.*\})$/gm)].map(
      ([, json]): Readonly<Record<string, unknown>> => JSON.parse(json ?? ''),
    );
    expect(events.map((data) => side.isError(data))).toEqual(
      events.map((_data, i) => i === events.length - 1),
    );
    if (side.format === 'responses') {
      expect(eventsOf(text).map(({ data }) => data['sequence_number'])).toEqual(
        events.map((_event, i) => i),
      );
      expect(schema.event(events.at(-1) ?? {})).toBe('');
    }
    const [record, ...more] = await running.usage();
    expect(more).toEqual([]);
    expect(record).toMatchObject({ status: 'cut', estimated: 1n, capability: side.format });
    expect(Number(record?.['output_tokens'])).toBeGreaterThan(0);
    expect(Number(await running.balance())).toBeCloseTo(100 - Number(record?.['cost']) / 1e9, 6);
    await running.expectBooks();
  });
});
