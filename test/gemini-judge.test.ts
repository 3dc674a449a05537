import { afterAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../src/base/random.ts';
import { fewCuts } from './cuts.ts';
import { bridgedAnswer, bridgedConfiguration, bridgedRequest } from './judge/gemini-bridged.ts';
import { answering } from './judge/gemini-bridged.ts';
import { type Form, type GeminiCase, geminiCases, isStream } from './judge/gemini-cases.ts';
import { chatCutOff, cutOff, somewhereIn } from './judge/gemini-cut-off.ts';
import { nativeConfiguration, passedOn } from './judge/gemini-passed-on.ts';
import { openStage } from './judge/gemini-stage.ts';
import { chatRecordings, recordingsFolder } from './recorded-traffic.ts';

// The judge of Gemini's door (`npm run judge:gemini`): a client of Gemini's format on one side of a
// real gateway, the recorded vendors on the other. Each figure counts whole cases; at least 99 of a
// hundred pass.

const seed = 20_261_125;
const shareMin = 0.99;
const folder = recordingsFolder;
const { cases, unjudged } =
  folder === undefined ? { cases: [], unjudged: [] } : geminiCases(folder);
const streams = cases.filter((one) => isStream(one) && one.status < 400 && one.reply.length > 0);
const answers =
  folder === undefined
    ? []
    : chatRecordings(folder).filter(
        ({ vendor, status, reply }) => vendor in answering && status < 400 && reply.length > 0,
      );

interface Figure {
  readonly name: string;
  readonly passed: number;
  readonly judged: number;
  readonly wrong: readonly string[];
}
const figures: Figure[] = [];

afterAll(() => {
  const width = Math.max(0, ...figures.map(({ name }) => name.length));
  for (const { name, passed, judged, wrong } of figures) {
    const share = `${((100 * passed) / Math.max(1, judged)).toFixed(2)} %`;
    process.stdout.write(`${name.padEnd(width)}  ${passed}/${judged}  ${share}\n`);
    for (const line of wrong) process.stdout.write(`    ${line}\n`);
  }
  for (const { id, why } of unjudged) process.stdout.write(`not judged: ${id}, ${why}\n`);
});

/** Judges each of them; the share that passes is the bound. */
async function judge<T extends { readonly id: string }>(
  name: string,
  all: readonly T[],
  verdict: (one: T) => Promise<readonly string[]>,
): Promise<void> {
  const wrong: string[] = [];
  for (const one of all) {
    const why = await verdict(one);
    if (why.length > 0) wrong.push(`${one.id} ${why.join(' · ').slice(0, 700)}`);
  }
  figures.push({ name, passed: all.length - wrong.length, judged: all.length, wrong });
  expect(all.length).toBeGreaterThan(0);
  expect((all.length - wrong.length) / all.length, wrong.join('\n')).toBeGreaterThanOrEqual(
    shareMin,
  );
}

const timeout = 180_000;
/** `npm run judge:gemini` plays every recorded answer of chat, the suite one in three. */
const step = process.env['JUDGE'] === 'all' ? 1 : 3;

describe.skipIf(folder === undefined)('Gemini’s door, judged by recorded traffic', () => {
  it.each([
    ['passed on, whole and as events', 'events', cases],
    ['passed on, as an array', 'array', streams],
  ] as const)('%s', { timeout }, async (name, form, judged) => {
    const stage = await openStage(nativeConfiguration(cases));
    await judge(name, judged, (one) => passedOn(stage, one, form, undefined));
    await stage.running.expectBooks();
  });

  it.each(['events', 'array'] as const)(
    'passed on in small pieces, %s',
    { timeout },
    async (form) => {
      const stage = await openStage(nativeConfiguration(cases));
      const random = seededRandom(seed);
      await judge(`passed on in small pieces, ${form}`, streams, (one) =>
        passedOn(stage, one, form, random),
      );
    },
  );

  it.each(['events', 'array'] as const)('cut off, %s', { timeout }, async (form) => {
    const stage = await openStage(nativeConfiguration(cases));
    const random = seededRandom(seed);
    const offset = (reply: Buffer): number => somewhereIn(reply, random);
    const ends = ['end', 'reset'] as const;
    const end = (one: GeminiCase) => ends[streams.indexOf(one) % ends.length] ?? 'end';
    await judge(`cut off, ${form}`, streams, (one) => cutOff(stage, one, form, offset, end(one)));
    await stage.running.expectBooks();
  });

  it('bridged to chat: requests', { timeout }, async () => {
    const stage = await openStage(bridgedConfiguration);
    const requests = cases.filter(
      ({ method, status }) => /[gG]enerateContent/.test(method) && status < 400,
    );
    await judge('bridged to chat: requests', requests, (one) => bridgedRequest(stage, one));
    await stage.running.expectBooks();
  });

  it.each(['events', 'array'] as Form[])(
    'bridged from chat: answers, %s',
    { timeout },
    async (form) => {
      const stage = await openStage(bridgedConfiguration);
      const random = seededRandom(seed);
      const judged = answers.filter(
        ({ streamed }, i) => (form === 'events' || streamed) && i % step === 0,
      );
      await judge(`bridged from chat: answers, ${form}`, judged, (one) =>
        bridgedAnswer(stage, one, form, [...fewCuts(one.reply, random)].at(-1) ?? [one.reply]),
      );
      await stage.running.expectBooks();
    },
  );

  it.each(['events', 'array'] as const)(
    'cut off behind the bridge, %s',
    { timeout },
    async (form) => {
      const stage = await openStage(bridgedConfiguration);
      const random = seededRandom(seed);
      const judged = answers.filter(({ streamed, vendor }) => streamed && vendor === 'openai');
      await judge(`cut off behind the bridge, ${form}`, judged, (one) =>
        chatCutOff(stage, one, form, (reply) => somewhereIn(reply, random)),
      );
      await stage.running.expectBooks();
    },
  );
});
