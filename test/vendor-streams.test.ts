import { setInterval as every } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { hello, oneModel, type RunningOptions } from './support/running.ts';
import { chunk, sse, streamOf } from './support/scripted-vendor.ts';
import { startWithVendor } from './support/with-vendor.ts';

const chat = '/v1/chat/completions';

const start = (limits: RunningOptions['limits'] = {}, configuration = oneModel) =>
  startWithVendor(configuration, { limits });

/** What a stream says, and whether it ended well. */
function said(text: string): { readonly words: string; readonly done: boolean } {
  const deltas = [...text.matchAll(/^data: (\{.*\})$/gm)].map(
    ([, json = '']) => JSON.parse(json).choices?.[0]?.delta?.content ?? '',
  );
  return { words: deltas.join(''), done: text.endsWith('data: [DONE]\n\n') };
}

const plain = streamOf(['Grüße', ' aus', ' Wien']);

test.each([
  ['lines that end in CR alone', plain.replaceAll('\n', '\r')],
  ['a byte order mark', `\ufeff${plain}`],
  [
    'a byte order mark, and the first text at once',
    `\ufeff${plain.slice(plain.indexOf('\n\n') + 2)}`,
  ],
])('R9: a vendor’s stream with %s arrives whole', async (_what, sent) => {
  const { vendor, running } = await start();
  const bytes = Buffer.from(sent);
  // Cut where it hurts: inside the mark, inside an end of a line, anywhere.
  for (const cut of [1, 2, 3, 200, sent.length]) {
    vendor.answer((_, response) => {
      sse(response).write(bytes.subarray(0, cut));
      setTimeout(() => response.end(bytes.subarray(cut)), 20);
    });
    const answer = await running.post(chat, { ...hello, stream: true });
    expect(said(await answer.text())).toEqual({ words: 'Grüße aus Wien', done: true });
  }
  expect(
    (await running.usage()).map(({ status, output_tokens: output }) => [status, output]),
  ).toEqual(Array.from({ length: 5 }, () => ['ok', 10n]));
  await running.expectBooks();
});

/** Keeps a stream open for ever. */
const endless =
  (piece: string, first = '') =>
  async (_: unknown, response: Parameters<typeof sse>[0]) => {
    sse(response).write(first);
    for await (const _tick of every(100)) {
      if (response.destroyed) return;
      response.write(piece);
    }
  };

test.each([
  ['comments', ': keep-alive\n\n'],
  ['empty deltas', chunk({ content: '' })],
  ['events without choices', chunk({}, null, { choices: [] })],
])(
  'R9: a vendor that streams only %s is ended, and so is one that does so in the middle',
  { timeout: 30_000 },
  async (_what, piece) => {
    const { vendor, running } = await start({ emptyMs: 1_500, attemptsMax: 1 });
    let stopped = 0;
    for (const first of ['', chunk({ role: 'assistant', content: 'Hello' })]) {
      vendor.answer((request, response) => {
        response.on('close', () => (stopped += 1));
        return endless(piece, first)(request, response);
      });
      const answer = await running.post(chat, { ...hello, stream: true });
      const text = await answer.text();
      if (first === '' && answer.status !== 200) expect(answer.status).toBe(503);
      else expect(text).toMatch(/data: \{"error":.*did not answer in time/);
      expect(said(text).done).toBe(false);
    }
    expect(stopped).toBe(2);
    const records = await running.usage();
    expect(records).toHaveLength(1);
    await running.expectBooks();
  },
);

test('R9: the same where the stream becomes a whole answer here', { timeout: 30_000 }, async () => {
  // So little money that the answer is paid for piece by piece, from a stream.
  const { vendor, running } = await startWithVendor(oneModel, {
    limits: { emptyMs: 1_500, attemptsMax: 1 },
    yuan: '0.2',
  });
  vendor.answer((request, response) => endless(': keep-alive\n\n')(request, response));
  const answer = await running.post(chat, { ...hello, max_tokens: 1_000 });
  expect(JSON.parse(vendor.received[0]?.text ?? '')).toMatchObject({ stream: true });
  expect(answer.status).toBe(503);
  expect(await running.usage()).toHaveLength(0);
});
