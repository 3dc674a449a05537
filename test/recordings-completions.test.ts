import { describe, expect, it } from 'vitest';
import { parseCompletion } from '../src/api/completions.ts';
import { parseJson } from '../src/api/request-body.ts';
import type { Random } from '../src/base/random.ts';
import { Refusal } from '../src/base/refusal.ts';
import type { Adapter, VendorCall } from '../src/providers/adapter.ts';
import { adaptersOf } from '../src/providers/bridges/index.ts';
import { isFault } from '../src/providers/formats/fault.ts';
import { vendors } from '../src/providers/index.ts';
import type { Vendor } from '../src/providers/vendor.ts';
import { answerMeaning, streamMeaning } from './chat-meaning.ts';
import { completionMeaning } from './completion-meaning.ts';
import { fewCuts } from './cuts.ts';
import {
  chatRecordings,
  type Recording,
  recordingsAt,
  recordingsFolder,
  sentBy,
} from './recorded-traffic.ts';
import { callAs, expectSameAtEveryCut, play, replays, vendorsOf } from './replay.ts';
import { context } from './support/parsed-request.ts';

/**
 * Clients of /v1/completions: recorded traffic passes natively, and chat's answers become texts
 * that say the same.
 */
const recordings =
  recordingsFolder === undefined ? [] : recordingsAt(recordingsFolder, 'completion');
const chats =
  recordingsFolder === undefined
    ? []
    : chatRecordings(recordingsFolder).filter(({ status }) => status < 400);
const foreign =
  recordingsFolder === undefined
    ? []
    : ['messages', 'gemini', 'converse', 'nativechat'].flatMap((at) =>
        recordingsAt(recordingsFolder ?? '', at),
      );
const suite = replays('completion');

function callOf(recording: Recording): VendorCall {
  const asked =
    recording.request?.['prompt'] === undefined ? { prompt: 'Go on.' } : recording.request;
  const body = { ...asked, model: 'public/model' };
  // A deployment's name says nothing of its model.
  const named = recording.vendor === 'azure' ? undefined : recording.request?.['model'];
  return callAs(recording, body, String(named ?? 'gpt-3.5-turbo-instruct'), 'cmpl-replayed');
}

/** Vendors that we do not know by name are played by the one that is anybody. */
function vendorOf({ vendor }: Recording): Vendor {
  const known = vendors.get(vendor) ?? vendors.get('openai-compatible');
  if (known === undefined) throw new Error(`nobody plays ${vendor}`);
  return known;
}

function completionsOf(vendor: Vendor): Adapter {
  const { completions } = adaptersOf(vendor);
  if (completions === undefined) throw new Error(`${vendor.id} completes nothing`);
  return completions;
}

/** A vendor that has nothing but this chat. */
function overChat(recording: Recording): Vendor {
  const vendor = vendorOf(recording);
  const chat = vendor.adapters.chat;
  return chat === undefined ? vendor : { ...vendor, adapters: { chat } };
}

/**
 * Answers of chat stand for those that were asked for in other words: an agent's, a stored
 * prompt's.
 */
const isChats = ({ reply, url }: Recording): boolean =>
  reply.includes('"chat.completion') && !url.includes('/fim/');
const adapterOf = (recording: Recording): Adapter =>
  completionsOf(isChats(recording) ? overChat(recording) : vendorOf(recording));

const told = (quantities: object | undefined): number =>
  Object.values(quantities ?? {}).reduce((sum, n) => sum + n, 0);

function checkStream(recording: Recording, random: Random): void {
  const adapter = adapterOf(recording);
  const call = callOf(recording);
  const want = completionMeaning(recording.reply.toString('utf8'));
  const { text, meter } = play(adapter, call, [recording.reply]);
  expect(meter.fault).toBeUndefined();
  expect(completionMeaning(text)).toEqual(want);
  expect(told(meter.quantities)).toBe((want.usage?.prompt ?? 0) + (want.usage?.completion ?? 0));
  expect(text).not.toMatch(/"object": ?(?!"text_completion")"/);
  expectSameAtEveryCut(adapter, call, recording, text, random);
  const collector = adapter.collect(call);
  collector.push(recording.reply);
  expect(completionMeaning(collector.answer().body.toString('utf8'))).toEqual(want);
}

function checkWhole(recording: Recording): void {
  const want = completionMeaning(recording.reply.toString('utf8'));
  const result = adapterOf(recording).read(recording.reply, 'application/json', callOf(recording));
  if (isFault(result)) throw new Error(`${result.kind}: ${result.message}`);
  expect(completionMeaning(result.body.toString('utf8'))).toEqual(want);
  expect(told(result.quantities)).toBe((want.usage?.prompt ?? 0) + (want.usage?.completion ?? 0));
  expect(JSON.parse(result.body.toString('utf8'))).toMatchObject({
    id: 'cmpl-replayed',
    object: 'text_completion',
    model: 'public/model',
  });
}

function checkFault(recording: Recording): void {
  const { kind, message } = adapterOf(recording).fault(
    recording.status,
    recording.headers,
    recording.reply.toString('utf8'),
  );
  expect(message).not.toBe('');
  expect(kind).toBe(
    { 400: 'bad_request', 404: 'unknown_model' }[recording.status] ?? 'credentials',
  );
}

/**
 * The door takes what the vendor took, and it goes on as it came. What the vendor refused for its
 * shape is refused here, by the same name.
 */
function checkRequest(recording: Recording): void {
  const call = callOf(recording);
  const given = parseJson(call.bytes, 'application/json');
  const parse = () => parseCompletion(context, given);
  const param =
    recording.status === 400 ? JSON.parse(recording.reply.toString('utf8')).error.param : null;
  if (param !== null) {
    return expect(parse).toThrow(
      expect.toSatisfy((error: unknown) => error instanceof Refusal && error.param === param),
    );
  }
  parse();
  const ask = completionsOf(vendorOf(recording)).ask(call);
  if (ask.path === '/chat/completions')
    return expect(JSON.parse(sentBy(ask)).messages).toHaveLength(1);
  expect(recording.url.replace(/\?.*/, '').endsWith(ask.path) || recording.url === '').toBe(true);
  const sent = JSON.parse(sentBy(ask));
  const { stream_options: _, ...same } = sent;
  expect(same).toEqual({ ...call.body, model: call.upstreamModel });
}

/** What chat says, a completion says, thoughts and calls left out. */
function checkBridged(recording: Recording, random: Random): boolean {
  const { chat } = vendorOf(recording).adapters;
  if (recording.status >= 400 || chat === undefined) return false;
  const call = {
    ...callAs(
      recording,
      { model: 'public/model', prompt: 'Go on.', messages: [], n: recording.request?.['n'] },
      'm',
      'cmpl-replayed',
    ),
    includeUsage: true,
  };
  const adapter = completionsOf(overChat(recording));
  if (!recording.streamed) {
    const want = chat.read(recording.reply, 'application/json', call);
    const got = adapter.read(recording.reply, 'application/json', call);
    if (isFault(want) || isFault(got)) expect(got).toEqual(want);
    else expectSame(got.body.toString('utf8'), answerMeaning(want.body.toString('utf8')));
    return true;
  }
  const want = play(chat, call, [recording.reply]);
  const { text, meter } = play(adapter, call, [recording.reply]);
  expect(meter.fault).toEqual(want.meter.fault);
  if (meter.fault === undefined) expectSame(text, streamMeaning(want.text));
  expectSameAtEveryCut(adapter, call, recording, text, random, fewCuts);
  return true;
}

function expectSame(got: string, want: ReturnType<typeof answerMeaning>): void {
  const { choices, usage } = completionMeaning(got);
  const [first] = choices;
  // A refusal is a text, too.
  if (want.text !== '') expect(first?.text).toBe(want.text);
  expect(first?.finish).toBe(
    want.finish === 'length' || want.finish === 'content_filter' ? want.finish : 'stop',
  );
  if (want.usage !== undefined)
    expect(usage).toEqual({ prompt: want.usage.prompt, completion: want.usage.completion });
}

describe.skipIf(recordingsFolder === undefined)('recorded text completions', () => {
  it.each(vendorsOf(recordings))(
    'of %s mean the same, at every cut',
    (vendor) =>
      suite.each(
        vendor,
        recordings.filter((one) => one.vendor === vendor),
        (recording, random) => {
          if (recording.request?.['prompt'] !== undefined) checkRequest(recording);
          if (recording.status >= 400) checkFault(recording);
          else if (recording.streamed) checkStream(recording, random);
          else checkWhole(recording);
        },
      ),
    180_000,
  );

  it('in chat’s words mean the same', () => suite.each('chats', chats, checkBridged), 180_000);
  it(
    'in other vendors’ words mean the same',
    () => suite.each('other formats', foreign, checkBridged),
    180_000,
  );
});
