import { expect, test } from 'vitest';
import { membersOf, exceedsJsonLimits } from '../src/api/request-body.ts';
import { completion, json } from './support/scripted-vendor.ts';
import { startWithVendor } from './support/with-vendor.ts';

/** Each member of this body decides something: the price, the limit, the stream, what is said. */
const body = {
  model: 'm1',
  max_tokens: 5,
  n: 1,
  stream: false,
  user: 'somebody',
  messages: [
    { role: 'system', content: 'Short.' },
    { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
  ],
  tools: [
    { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } },
  ],
  response_format: { type: 'json_schema', json_schema: { name: 's', schema: { type: 'object' } } },
};

const other = '"something else"';

/** The body once for each of its members, in which that stands twice: first with another value. */
function* doubled(
  value: unknown,
  before = '',
  after = '',
): Generator<readonly [name: string, json: string]> {
  if (typeof value !== 'object' || value === null) return;
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  const written = entries.map(([name, inner]) =>
    isList ? JSON.stringify(inner) : `${JSON.stringify(name)}:${JSON.stringify(inner)}`,
  );
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  for (const [i, [name, inner]] of entries.entries()) {
    const head = `${before}${open}${written
      .slice(0, i)
      .map((one) => `${one},`)
      .join('')}`;
    const tail = `${written
      .slice(i + 1)
      .map((one) => `,${one}`)
      .join('')}${close}${after}`;
    const label = isList ? '' : `${JSON.stringify(name)}:`;
    if (!isList) {
      yield [name, `${head}${label}${other},${written[i]}${tail}`];
      // The same name in other letters.
      yield [
        name,
        `${head}"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}":${other},${written[i]}${tail}`,
      ];
    }
    yield* doubled(inner, `${head}${label}`, tail);
  }
}

test('R9: of a member that stands there twice, at whatever depth, only the one that was checked goes on', async () => {
  const { vendor, running } = await startWithVendor();
  vendor.answer((_, response) => json(response, 200, completion()));
  const cases = [...doubled(body)];
  expect(cases.length).toBeGreaterThan(40);
  expect((await running.post('/v1/chat/completions', body)).status).toBe(200);
  const usual = JSON.parse(vendor.received[0]?.text ?? '');
  for (const [name, sent] of cases) {
    const answer = await running.post('/v1/chat/completions', sent);
    expect(answer.status, `${name}: ${sent}`).toBe(200);
    const text = vendor.received.at(-1)?.text ?? '';
    const written = { members: 0 };
    expect(exceedsJsonLimits(Buffer.from(text), [], written)).toBeUndefined();
    expect(written.members, text).toBe(membersOf(JSON.parse(text)));
    expect(JSON.parse(text)).toEqual(usual);
  }
  const costs = new Set((await running.usage()).map(({ cost }) => cost));
  expect(costs.size).toBe(1);
  await running.expectBooks();
});

test('R9: beside a picture that is not copied, too', async () => {
  const { vendor, running } = await startWithVendor();
  vendor.answer((_, response) => json(response, 200, completion()));
  const url = `data:image/png;base64,${'A'.repeat(100_000)}`;
  const messages = JSON.stringify([
    {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url } },
        { type: 'text', text: 'What?' },
      ],
    },
  ]);
  const answer = await running.post(
    '/v1/chat/completions',
    `{"model":"m1","max_tokens":5000000,"max_tokens":7,"messages":${messages}}`,
  );
  const text = vendor.received.at(-1)?.text ?? (await answer.text());
  expect(text.match(/"max_tokens":\d+/g)).toEqual(['"max_tokens":7']);
  expect(JSON.parse(text).messages).toEqual(JSON.parse(messages));
});
