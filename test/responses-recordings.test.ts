import { describe, expect, it } from 'vitest';
import type { Random } from '../src/base/random.ts';
import { Refusal } from '../src/base/refusal.ts';
import type { Adapter, VendorCall } from '../src/providers/adapter.ts';
import { responsesOverChat } from '../src/providers/bridges/responses-over-chat.ts';
import { isFault } from '../src/providers/formats/fault.ts';
import { openaiChat } from '../src/providers/formats/openai-chat/adapter.ts';
import { openaiResponses } from '../src/providers/formats/openai-responses/adapter.ts';
import { chatOverResponses } from '../src/providers/formats/openai-responses/chat.ts';
import { vendors } from '../src/providers/index.ts';
import { answerMeaning, streamMeaning } from './chat-meaning.ts';
import { fewCuts } from './cuts.ts';
import { type Recording, recordingsFolder, recordingsAt, sentBy } from './recorded-traffic.ts';
import { callAs, expectSameAtEveryCut, play, replays } from './replay.ts';
import {
  asResponse,
  eventsOf,
  lastResponse,
  responseMeaning,
  type ResponseMeaning,
} from './responses-meaning.ts';
import { openSchema } from './responses-schema.ts';

const recordings =
  recordingsFolder === undefined ? [] : recordingsAt(recordingsFolder, 'responses');
const schema = openSchema();
const suite = replays('responses');

function callOf(recording: Recording): VendorCall {
  const { request } = recording;
  const model = typeof request?.['model'] === 'string' ? request['model'] : 'recorded-model';
  return callAs(recording, { ...request, model: 'public/model' }, model, 'resp_replayed');
}

function same(got: ResponseMeaning, want: ResponseMeaning): void {
  expect(got).toEqual({ ...want, failed: false });
}

/** A response on its way to a client of chat. */
function checkChat(recording: Recording, random: Random): void {
  const adapter = chatOverResponses();
  const call = callOf(recording);
  if (recording.status >= 400) {
    expect(
      adapter.fault(recording.status, recording.headers, recording.reply.toString('utf8')).message,
    ).not.toBe('');
    return;
  }
  if (!recording.streamed) {
    const want = responseMeaning(JSON.parse(recording.reply.toString('utf8')));
    const got = adapter.read(recording.reply, 'application/json', call);
    if (isFault(got)) return expect(want.failed).toBe(true);
    return same(asResponse(answerMeaning(got.body.toString('utf8'))), want);
  }
  const last = lastResponse(recording.reply.toString('utf8'));
  const { text, meter } = play(adapter, call, [recording.reply]);
  if (last === undefined || responseMeaning(last).failed) return expect(meter.fault).toBeDefined();
  expect(meter.fault).toBeUndefined();
  same(asResponse(streamMeaning(text)), responseMeaning(last));
  expectSameAtEveryCut(adapter, call, recording, text, random);
  const collector = adapter.collect(call);
  collector.push(recording.reply);
  same(asResponse(answerMeaning(collector.answer().body.toString('utf8'))), responseMeaning(last));
}

/**
 * A response on its way to a client of the same format: nothing is lost, and only what is ours is
 * changed.
 */
function checkNative(recording: Recording, random: Random): void {
  const adapter = openaiResponses();
  const call = callOf(recording);
  if (recording.status >= 400) return;
  checkRequests(adapter, call);
  if (!recording.streamed) {
    const want = JSON.parse(recording.reply.toString('utf8'));
    const got = adapter.read(recording.reply, 'application/json', call);
    if (isFault(got)) return expect(responseMeaning(want).failed).toBe(true);
    const body = JSON.parse(got.body.toString('utf8'));
    expect(ours(body)).toEqual(ours(want));
    expect(body).toMatchObject({ id: 'resp_replayed', model: 'public/model' });
    return;
  }
  const reply = recording.reply.toString('utf8');
  const last = lastResponse(reply);
  const { text, meter } = play(adapter, call, [recording.reply]);
  if (last === undefined || responseMeaning(last).failed) return expect(meter.fault).toBeDefined();
  expect(meter.fault).toBeUndefined();
  expect(eventsOf(text).map(({ data }) => ours(data))).toEqual(
    eventsOf(reply).map(({ data }) => ours(data)),
  );
  const told = responseMeaning(last).usage;
  expect(total(meter.quantities)).toBeGreaterThanOrEqual(
    Math.min(1, (told?.input ?? 0) + (told?.output ?? 0)),
  );
  expectSameAtEveryCut(adapter, call, recording, text, random);
  const cutShort = adapter.stream(call);
  const half = cutShort.push(recording.reply.subarray(0, recording.reply.length / 2));
  if (cutShort.meter.done) return;
  const ended = eventsOf(
    Buffer.from(half + cutShort.cutShort({ input: 1, output: 1 }), 'latin1').toString('utf8'),
  ).at(-1);
  expect(ended?.data).toMatchObject({
    type: 'response.incomplete',
    response: { id: 'resp_replayed', status: 'incomplete' },
  });
}

/**
 * What was asked arrives as it was asked, natively; over chat, what chat has no word for is refused
 * by its place, and nothing else.
 */
function checkRequests(native: Adapter, call: VendorCall): void {
  if (typeof call.body['input'] !== 'string' && !Array.isArray(call.body['input'])) return;
  const { model, store, ...sent } = JSON.parse(sentBy(native.ask(call)));
  const { model: _, store: __, previous_response_id: ___, background: ____, ...said } = call.body;
  expect([model, store]).toEqual([call.upstreamModel, false]);
  const sealed = (item: unknown): boolean => JSON.stringify(item).includes('"encrypted_content":"');
  const thoughts = (item: object): boolean =>
    'type' in item && item.type === 'reasoning' && !sealed(item);
  const input = Array.isArray(said['input'])
    ? said['input'].filter((item) => !thoughts(item))
    : said['input'];
  expect(sent).toEqual({ ...said, input });
  try {
    const chat = JSON.parse(sentBy(responsesOverChat(openaiChat({})).ask(call)));
    const results = (list: unknown, match: RegExp): number =>
      (JSON.stringify(list).match(match) ?? []).length;
    expect(results(chat.messages, /"role":"tool"/g)).toBe(
      results(call.body['input'], /"type":"(function_call_output|custom_tool_call_output)"/g),
    );
  } catch (error) {
    if (!(error instanceof Refusal) || error.param === null) throw error;
    expect(error.param).toMatch(
      /^(tools\[\d+\]\.type|input\[\d+\]|prompt$|tool_choice\.type|context_management|moderation$)/,
    );
  }
}

const total = (quantities: object | undefined): number =>
  Object.values(quantities ?? {}).reduce((sum, n) => sum + n, 0);

/** Without the members that the gateway sets. */
function ours(value: object): object {
  const {
    id: _,
    model: __,
    store: ___,
    background: ____,
    previous_response_id: _____,
    billing: ______,
    content_filters: _______,
    ...rest
  } = Object(value);
  return 'response' in rest ? { ...rest, response: ours(rest.response) } : rest;
}

/** A chat completion on its way to a client of responses. */
function checkBridged(recording: Recording, random: Random): void {
  const adapter = responsesOverChat(openaiChat({}));
  const call = { ...callOf(recording), body: { model: 'public/model', input: 'Hi' } };
  if (recording.status >= 400) return;
  if (!recording.streamed) {
    const got = adapter.read(recording.reply, 'application/json', call);
    const want = answerMeaning(recording.reply.toString('utf8'));
    if (isFault(got)) return expect(want.error ?? want.finish).toBeDefined();
    const body: unknown = JSON.parse(got.body.toString('utf8'));
    expect(schema.response(body)).toBe('');
    return sameSaid(responseMeaning(body), asResponse(want));
  }
  const want = streamMeaning(recording.reply.toString('utf8'));
  const { text, meter } = play(adapter, call, [recording.reply]);
  if (want.error !== undefined || want.finish === undefined)
    return expect(meter.fault).toBeDefined();
  const events = eventsOf(text);
  expect(events.map(({ data }) => data['sequence_number'])).toEqual(events.map((_, i) => i));
  for (const { name, data } of events) {
    expect(name).toBe(data['type']);
    expect(schema.event(data)).toBe('');
  }
  sameSaid(responseMeaning(lastResponse(text)), asResponse(want));
  const deltas = events
    .filter(({ name }) => name === 'response.output_text.delta')
    .map(({ data }) => String(data['delta']));
  expect(deltas.join('')).toBe(want.text);
  expectSameAtEveryCut(adapter, call, recording, text, random, fewCuts);
}

/**
 * An answer in a vendor's own format on its way to a client of responses: it says what it says to a
 * client of chat.
 */
function checkForeign(recording: Recording): void {
  const chat = vendors.get(recording.vendor)?.adapters.chat;
  if (chat === undefined || recording.status >= 400) return;
  const call: VendorCall = {
    ...callOf(recording),
    body: { model: 'public/model', input: 'Hi', messages: [] },
  };
  const adapter = responsesOverChat(chat);
  if (!recording.streamed) {
    const want = chat.read(recording.reply, 'application/json', call);
    const got = adapter.read(recording.reply, 'application/json', call);
    if (isFault(want) || isFault(got)) return expect(got).toEqual(want);
    const body: unknown = JSON.parse(got.body.toString('utf8'));
    expect(schema.response(body)).toBe('');
    return same(responseMeaning(body), asResponse(answerMeaning(want.body.toString('utf8'))));
  }
  const want = play(chat, call, [recording.reply]);
  const { text, meter } = play(adapter, call, [recording.reply]);
  expect(meter.fault).toEqual(want.meter.fault);
  if (want.meter.fault !== undefined) return;
  for (const { data } of eventsOf(text)) expect(schema.event(data)).toBe('');
  same(responseMeaning(lastResponse(text)), asResponse(streamMeaning(want.text)));
}

/** Counts are corrected where the vendor's contradict each other; chat's own test looks at them. */
function sameSaid(
  { usage: _, ...got }: ResponseMeaning,
  { usage: __, ...want }: ResponseMeaning,
): void {
  expect(got).toEqual(want);
}

const chats =
  recordingsFolder === undefined
    ? []
    : recordingsAt(recordingsFolder, 'chat').filter(({ vendor }) =>
        ['openai', 'azure', 'deepseek', 'groq', 'xai', 'openrouter'].includes(vendor),
      );

const foreign =
  recordingsFolder === undefined
    ? []
    : ['messages', 'gemini', 'nativechat'].flatMap((endpoint) =>
        recordingsAt(recordingsFolder ?? '', endpoint),
      );

describe.skipIf(recordingsFolder === undefined)('recorded responses', () => {
  it.each([
    ['responses to clients of chat', checkChat, recordings],
    ['responses to clients of responses', checkNative, recordings],
    ['chats to clients of responses', checkBridged, chats],
    ['answers in other formats to clients of responses', checkForeign, foreign],
  ] as const)(
    '%s mean the same, at every cut',
    (name, check, all) => suite.each(name, all, check),
    180_000,
  );
});
