import { describe, expect, it } from 'vitest';
import { parseMessages } from '../src/api/messages.ts';
import { parseJson } from '../src/api/request-body.ts';
import { isToolMeasure, type Quantities } from '../src/base/quantities.ts';
import type { Random } from '../src/base/random.ts';
import type { Adapter, VendorCall } from '../src/providers/adapter.ts';
import { messagesOverChat } from '../src/providers/bridges/messages-over-chat.ts';
import { anthropicMessages } from '../src/providers/formats/anthropic-messages/adapter.ts';
import { anthropicNative as nativeAdapter } from '../src/providers/formats/anthropic-messages/native.ts';
import { isFault } from '../src/providers/formats/fault.ts';
import { vendors } from '../src/providers/index.ts';
import { answerMeaning, type Meaning, streamMeaning } from './chat-meaning.ts';
import { fewCuts } from './cuts.ts';
import { chatRequest, messagesMeaning, messagesSaid } from './messages-meaning.ts';
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
 * Clients of /v1/messages: recorded traffic passes natively as it is, and chat's answers become
 * messages that mean the same.
 */
const anthropicNative = nativeAdapter();
const bodyOf = ({ request }: Recording): Record<string, unknown> | undefined =>
  Array.isArray(request?.['messages']) ? { ...request } : undefined;
const native =
  recordingsFolder === undefined
    ? []
    : recordingsAt(recordingsFolder, 'messages').filter(
        (one) => one.vendor !== 'openai' && bodyOf(one),
      );
const chats =
  recordingsFolder === undefined
    ? []
    : chatRecordings(recordingsFolder).filter(({ status }) => status < 400);
const done = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';
const suite = replays('messages natively and over chat');

function callFrom(recording: Recording): VendorCall {
  const body = { ...bodyOf(recording), model: 'public/model' };
  const call = callAs(
    recording,
    body,
    String(recording.request?.['model'] ?? 'claude-sonnet-4-5'),
    'msg_replayed',
  );
  return { ...call, includeUsage: true };
}

/** All tokens; calls of tools are counted in price-audit.test.ts. */
const total = (quantities: Quantities | undefined): number =>
  Object.entries(quantities ?? {}).reduce(
    (sum, [measure, n]) => (isToolMeasure(measure) ? sum : sum + n),
    0,
  );
/** What an advisor said is outside of a message's own count. */
const advised = (recorded: string): number =>
  [
    ...recorded.matchAll(/\{[^{}]*(?:\{[^{}]*\}[^{}]*)?"type":\s*"advisor_message"[^{}]*\}/g),
  ].reduce((sum, [iteration]) => {
    const count = (member: string): number =>
      Number(new RegExp(`"${member}":\\s*(\\d+)`).exec(iteration)?.[1] ?? 0);
    return sum + count('input_tokens') + count('output_tokens');
  }, 0);
const asked = ({ usage }: Meaning): number => (usage ? usage.prompt + usage.completion : 0);

/** The data of each event but for pings, whose members say what is ours: id and model. */
function eventsOf(text: string): unknown[] {
  const all = text.replaceAll('\r\n', '\n').split('\n\n');
  const told = all
    .flatMap((event) => /^data: ?(.*)$/m.exec(event)?.[1] ?? [])
    .map((data) => JSON.parse(data));
  for (const { message } of told) if (message) Object.assign(message, { id: 'id', model: 'model' });
  return told.filter(({ type }) => type !== 'ping');
}

function checkNativeStream(recording: Recording, random: Random): void {
  const call = callFrom(recording);
  const recorded = recording.reply.toString('utf8');
  const want = messagesMeaning(recorded);
  const { text, meter } = play(anthropicNative, call, [recording.reply]);
  if (want.finish === undefined || recorded === '') return expect(meter.fault).toBeDefined();
  expect(meter.fault).toBeUndefined();
  expect(eventsOf(text + done)).toEqual(eventsOf(recorded));
  expect(text).toContain('"model":"public/model"');
  expect(total(meter.quantities)).toBe(asked(want) + advised(recorded));
  expectSameAtEveryCut(anthropicNative, call, recording, text, random);
  const collector = anthropicNative.collect(call);
  collector.push(recording.reply);
  expect(messagesMeaning(collector.answer().body.toString('utf8'))).toEqual(want);
}

function checkNativeAnswer(recording: Recording): void {
  const result = anthropicNative.read(recording.reply, 'application/json', callFrom(recording));
  const said: Record<string, unknown> = JSON.parse(recording.reply.toString('utf8'));
  if (!Array.isArray(said['content'])) return expect(isFault(result)).toBe(true);
  if (isFault(result)) throw new Error(result.message);
  expect(JSON.parse(result.body.toString('utf8'))).toEqual({
    ...said,
    id: 'msg_replayed',
    model: 'public/model',
  });
  expect(total(result.quantities)).toBe(
    asked(messagesMeaning(recording.reply.toString('utf8'))) +
      advised(recording.reply.toString('utf8')),
  );
}

/** The door takes what the vendor took, and sends it on as it came. */
function checkRequest(recording: Recording): void {
  const call = callFrom(recording);
  const sent = parseJson(call.bytes, 'application/json');
  const parse = (): unknown => parseMessages(context, sent);
  // What lies in the account that all share is reached by nobody (R9 of the reviews).
  if (/"file_id":/.test(JSON.stringify(sent.body['messages'])))
    return expect(parse).toThrow("stored at the model's vendor");
  parse();
  expect(JSON.parse(sentBy(anthropicNative.ask(call)))).toEqual({
    ...call.body,
    model: call.upstreamModel,
  });
}

const withoutMarks = (body: Record<string, unknown>): Record<string, unknown> =>
  JSON.parse(
    JSON.stringify(body, (name, value: unknown) => (name === 'cache_control' ? undefined : value)),
  );
const oneSystem = (body: Record<string, unknown>): Record<string, unknown> => {
  const { system } = body;
  return Array.isArray(system)
    ? { ...body, system: system.map(({ text }) => text).join('') }
    : body;
};
/** White space between texts is ours. */
const said = (body: unknown): string => JSON.stringify(sorted(body)).replaceAll(/\\n|\s/g, '');
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort()
      .map(([name, inner]) => [name, sorted(inner)]),
  );
};

const claude = messagesOverChat(anthropicMessages());

/** Anthropic's words as chat's, and back: what both formats can say arrives. */
function checkRoundTrip(recording: Recording): boolean {
  const body = withoutMarks(bodyOf(recording) ?? {});
  if (chatRequest(body) === undefined || recording.request?.['model'] === undefined) return false;
  // Servers of tools are refused.
  if (body['mcp_servers'] !== undefined) return false;
  const sent = JSON.parse(sentBy(claude.ask({ ...callFrom(recording), body })));
  expect(said(messagesSaid(oneSystem(sent)))).toBe(said(messagesSaid(oneSystem(body))));
  return true;
}

function chatOf(vendor: string): Adapter {
  const chat =
    vendors.get(vendor)?.adapters.chat ?? vendors.get('openai-compatible')?.adapters.chat;
  if (chat === undefined) throw new Error('nobody plays this');
  return chat;
}

/** What a message says, beside one note for each picture that chat shows. */
function withoutNotes(message: string, chat: string): Meaning {
  const meaning = messagesMeaning(message);
  const notes = /\n?\[The model made a picture\.[^\]]*\]/g;
  const noted = meaning.text.match(notes)?.length ?? 0;
  expect(noted).toBe(chat.match(/"type":"image_url"/g)?.length ?? 0);
  return { ...meaning, text: meaning.text.replace(notes, '') };
}

function checkBridge(recording: Recording, random: Random, chat: Adapter): boolean {
  const body = {
    model: 'public/model',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Go on.' }],
    stream: recording.streamed,
  };
  const call = { ...callFrom(recording), body, bytes: Buffer.from(JSON.stringify(body)) };
  const adapter = messagesOverChat(chat);
  if (!recording.streamed) {
    const want = chat.read(recording.reply, 'application/json', {
      ...call,
      body: { ...body, messages: [] },
    });
    const got = adapter.read(recording.reply, 'application/json', call);
    expect(isFault(got)).toBe(isFault(want));
    if (!isFault(got) && !isFault(want))
      expectSame(
        withoutNotes(got.body.toString('utf8'), want.body.toString('utf8')),
        answerMeaning(want.body.toString('utf8')),
        got.quantities,
      );
    return true;
  }
  const plain = play(chat, { ...call, includeUsage: true }, [recording.reply]);
  const { text, meter } = play(adapter, call, [recording.reply]);
  expect(meter.fault).toEqual(plain.meter.fault);
  if (meter.fault === undefined) {
    expectSame(withoutNotes(text, plain.text), streamMeaning(plain.text), meter.quantities);
    expectSequence(text);
    const collector = adapter.collect(call);
    collector.push(recording.reply);
    expectSame(
      withoutNotes(collector.answer().body.toString('utf8'), plain.text),
      streamMeaning(plain.text),
      meter.quantities,
    );
  }
  expectSameAtEveryCut(adapter, call, recording, text, random, fewCuts);
  return true;
}

const parsedArgs = (args: string): unknown => {
  try {
    return JSON.parse(args || '{}') ?? {};
  } catch {
    return args;
  }
};

function expectSame(got: Meaning, want: Meaning, quantities: Quantities | undefined): void {
  // A message is one answer; a refusal is its text.
  if (want.choices > 1 || want.finish === 'function_call') return;
  if (got.finish !== 'content_filter') expect(got.text).toBe(want.text);
  expect(got.reasoning).toBe(want.reasoning);
  expect(got.calls.map(({ name }) => name)).toEqual(want.calls.map(({ name }) => name));
  const args = want.calls.map((call) => parsedArgs(call.args));
  if (args.every((one) => typeof one === 'object'))
    expect(got.calls.map((call) => parsedArgs(call.args))).toEqual(args);
  if (got.finish !== 'content_filter')
    expect(got.finish).toBe(
      got.calls.length > 0 && want.finish === 'stop' ? 'tool_calls' : want.finish,
    );
  if (quantities !== undefined) expect(asked(got)).toBe(total(quantities));
}

/** One start, blocks that open and close one by one, one reason. */
function expectSequence(text: string): void {
  const types = eventsOf(text).map((event) =>
    typeof event === 'object' && event !== null && 'type' in event ? event.type : undefined,
  );
  const letters: Readonly<Record<string, string>> = {
    message_start: '<',
    content_block_start: '(',
    content_block_delta: '.',
    content_block_stop: ')',
    message_delta: '>',
  };
  expect(types.map((type) => letters[String(type)]).join('')).toMatch(/^<(\(\.*\))*>$/);
}

describe.skipIf(recordingsFolder === undefined)('recorded traffic of /v1/messages', () => {
  const good = native.filter(({ status }) => status < 400);
  it(
    'passes natively: streams, at every cut',
    () =>
      suite.each(
        'streams',
        good.filter((one) => one.streamed),
        checkNativeStream,
      ),
    180_000,
  );
  it('passes natively: whole answers', () =>
    suite.each(
      'answers',
      good.filter((one) => !one.streamed),
      checkNativeAnswer,
    ));
  it('passes natively: requests', () => suite.each('requests', good, checkRequest));
  it('says over chat what it said itself', () =>
    suite.each('requests over chat', good, checkRoundTrip));
  it.each([
    ['messages', 'anthropic'],
    ['gemini', 'gemini'],
    ['converse', 'bedrock'],
    ['nativechat', 'cohere'],
  ])(
    'in the format %s becomes messages that mean the same, at every cut',
    (endpoint, vendor) => {
      const all =
        recordingsFolder === undefined
          ? []
          : recordingsAt(recordingsFolder, endpoint).filter(
              (one) => one.status < 400 && one.vendor !== 'openai',
            );
      suite.each(endpoint, all, (recording, random) =>
        checkBridge(recording, random, chatOf(vendor)),
      );
    },
    180_000,
  );
  it.each([...vendorsOf(chats)])(
    'of %s, recorded as chat, becomes messages that mean the same, at every cut',
    (vendor) =>
      suite.each(
        vendor,
        chats.filter((one) => one.vendor === vendor),
        (recording, random) => checkBridge(recording, random, chatOf(vendor)),
      ),
    180_000,
  );
});
