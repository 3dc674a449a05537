import { describe, expect, it } from 'vitest';
import { isMeasure, isToolMeasure, type Quantities } from '../src/base/quantities.ts';
import type { Random } from '../src/base/random.ts';
import type { Adapter, VendorCall } from '../src/providers/adapter.ts';
import { isFault } from '../src/providers/formats/fault.ts';
import { vendors } from '../src/providers/index.ts';
import { answerMeaning, type Meaning, streamMeaning } from './chat-meaning.ts';
import { chatRecordings, type Recording, recordingsFolder, sentBy } from './recorded-traffic.ts';
import { callAs, expectSameAtEveryCut, play, replays, vendorsOf } from './replay.ts';

const recordings = recordingsFolder === undefined ? [] : chatRecordings(recordingsFolder);
const suite = replays('chat');
const hello = callOf({
  request: { messages: [{ role: 'user', content: 'Hello' }] },
  streamed: false,
});

/**
 * Vendors that we do not know by name, or that speak another format at home, are played by the one
 * that is anybody.
 */
function adapterOf(vendor: string): Adapter {
  const own = vendors.get(vendor)?.adapters.chat;
  const adapter =
    own?.ask(hello).path === '/chat/completions'
      ? own
      : vendors.get('openai-compatible')?.adapters.chat;
  if (!adapter) throw new Error(`nobody plays ${vendor}`);
  return adapter;
}

function callOf({ request, streamed }: Pick<Recording, 'request' | 'streamed'>): VendorCall {
  const upstreamModel =
    typeof request?.['model'] === 'string' ? request['model'] : 'recorded-model';
  return callAs({ streamed }, { messages: [], ...request, model: 'public/model' }, upstreamModel);
}

/** The tokens. Calls of tools stand beside them. */
const total = (quantities: Quantities | undefined): number =>
  Object.entries(quantities ?? {})
    .filter(([measure]) => !(isMeasure(measure) && isToolMeasure(measure)))
    .reduce((sum, [, n]) => sum + n, 0);

/** The vendor's own total. Where it tells none, parts may stand beside the sums. */
function totals({ usage }: Meaning): number[] {
  if (!usage) return [0];
  const { prompt, completion, cached, reasoning, total: told } = usage;
  if (told > 0) return [told];
  return [
    prompt + completion,
    prompt + completion + reasoning,
    prompt + completion + cached,
    prompt + completion + reasoning + cached,
  ];
}

const finishes: Readonly<Record<string, string>> = {
  eos: 'stop',
  tool_call: 'tool_calls',
  model_length: 'length',
  sensitive: 'content_filter',
};

function expectSame(got: Meaning, want: Meaning, quantities: Quantities | undefined): void {
  expect(got.text).toBe(want.text);
  expect(got.calls).toEqual(want.calls);
  expect(got.reasoning).toBe(want.reasoning);
  expect(got.finish).toBe(finishes[want.finish ?? ''] ?? want.finish);
  expect(totals(want)).toContain(total(quantities));
  expect(got.usage ? got.usage.prompt + got.usage.completion : 0).toBe(total(quantities));
}

function checkStream(recording: Recording, random: Random): void {
  const adapter = adapterOf(recording.vendor);
  const call = callOf(recording);
  const want = streamMeaning(recording.reply.toString('utf8'));
  const { text, meter } = play(adapter, call, [recording.reply]);
  if (want.error !== undefined) expect(meter.fault).toBeDefined();
  else if (want.finish === undefined) expect(meter.fault).toMatchObject({ kind: 'protocol' });
  else expectSame(streamMeaning(text), want, meter.quantities);
  expectSameAtEveryCut(adapter, call, recording, text, random);
  const collector = adapter.collect(call);
  collector.push(recording.reply);
  if (meter.fault === undefined && want.choices === 1) {
    expectSame(answerMeaning(collector.answer().body.toString('utf8')), want, meter.quantities);
  }
}

function checkWhole(recording: Recording): void {
  const want = answerMeaning(recording.reply.toString('utf8'));
  const result = adapterOf(recording.vendor).read(
    recording.reply,
    'application/json',
    callOf(recording),
  );
  if (want.error !== undefined || want.finish === 'error') expect(isFault(result)).toBe(true);
  else if (isFault(result)) throw new Error(`${result.kind}: ${result.message}`);
  else
    expectSame(
      answerMeaning(result.body.toString('utf8')),
      { ...want, finish: want.finish ?? 'stop' },
      result.quantities,
    );
}

const ours: readonly number[] = [401, 402, 403, 429];
const clients = new Set(['bad_request', 'context_length', 'content_policy']);

function checkFault(recording: Recording): void {
  const { kind, message } = adapterOf(recording.vendor).fault(
    recording.status,
    recording.headers,
    recording.reply.toString('utf8'),
  );
  expect(message).not.toBe('');
  if (ours.includes(recording.status)) expect(clients.has(kind)).toBe(false);
  if (recording.status >= 500) expect(clients.has(kind)).toBe(false);
}

/** Members that would have another model answer than the one that is charged: they do not pass. */
const takeOvers: Readonly<Record<string, readonly string[]>> = { openrouter: ['models', 'route'] };

/**
 * What may not be sent as it came: the members that a vendor's page refuses or that metering needs.
 */
function checkRequest(recording: Recording): void {
  if (!Array.isArray(recording.request?.['messages'])) return;
  const call = callOf(recording);
  const sent: Record<string, unknown> = JSON.parse(sentBy(adapterOf(recording.vendor).ask(call)));
  const { model, stream_options: _, ...rest } = sent;
  const { model: __, stream_options: ___, ...said } = call.body;
  const passing = Object.entries(said).filter(
    ([member]) => takeOvers[recording.vendor]?.includes(member) !== true,
  );
  expect(model).toBe(call.upstreamModel);
  const ids = /"(id|tool_call_id)":"[^"]*"/g;
  expect(JSON.stringify(rest).replace(ids, '')).toBe(
    JSON.stringify(Object.fromEntries(passing)).replace(ids, ''),
  );
}

describe.skipIf(recordingsFolder === undefined)('recorded traffic', () => {
  it.each(vendorsOf(recordings))(
    'of %s means the same after translation, at every cut',
    (vendor) =>
      suite.each(
        vendor,
        recordings.filter((recording) => recording.vendor === vendor),
        (recording, random) => {
          if (recording.status >= 400) return checkFault(recording);
          if (recording.streamed) checkStream(recording, random);
          else checkWhole(recording);
          checkRequest(recording);
        },
      ),
    180_000,
  );
});
