import { describe, expect, it } from 'vitest';
import type { FaultKind } from '../src/base/fault.ts';
import type { VendorCall, BaseAdapter } from '../src/providers/adapter.ts';
import { isFault } from '../src/providers/formats/fault.ts';
import { vendors } from '../src/providers/index.ts';
import { chatRequest as chatOfConverse, converseSaid } from './converse-meaning.ts';
import { chatRequest as chatOfGemini, geminiSaid } from './gemini-meaning.ts';
import { type Recording, recordingsAt, recordingsFolder } from './recorded-traffic.ts';
import { callAs, replays, vendorsOf } from './replay.ts';

/**
 * Counts of tokens: asked as they were recorded, and told in the words of whichever endpoint was
 * asked.
 */
const recordings =
  recordingsFolder === undefined ? [] : recordingsAt(recordingsFolder, 'count_tokens');
const suite = replays('count_tokens');
type Json = Readonly<Record<string, unknown>>;

/** What a client asked, so that the vendor was asked this. */
interface Question {
  readonly endpoint: 'messages' | 'responses';
  readonly body: Json;
  readonly model: string;
  /** Compares what we send with what was recorded. */
  readonly same: (sent: Json) => void;
}

/** Chat's plain texts as messages: these questions have nothing else but one function. */
function messagesFrom(chat: Json | undefined): Json {
  const turns = Array.isArray(chat?.['messages']) ? chat['messages'] : [];
  const tools = Array.isArray(chat?.['tools']) ? chat['tools'] : [];
  const system = turns.filter(({ role }) => role === 'system');
  return {
    model: 'public/model',
    messages: turns
      .filter(({ role }) => role !== 'system')
      .map(({ role, content }) => ({ role, content })),
    ...(system.length === 0 ? {} : { system: system.flatMap(({ content }) => content) }),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ function: { name, description, parameters } }) => ({
            name,
            description,
            input_schema: parameters,
          })),
        }),
  };
}

function questionOf({ vendor, request, url }: Recording): Question {
  const asked: Json = { ...request };
  if (vendor === 'anthropic' || vendor === 'openai') {
    const endpoint = vendor === 'openai' ? 'responses' : 'messages';
    return {
      endpoint,
      body: { ...asked, model: 'public/model' },
      model: String(asked['model']),
      same: (sent) => expect(sent).toEqual(asked),
    };
  }
  if (vendor === 'bedrock') {
    const model = decodeURIComponent(/\/model\/([^/]+)\//.exec(url)?.[1] ?? '');
    const { converse, invokeModel } = Object(asked['input']);
    // A body of Anthropic's own is what our client sends; Converse is what we speak.
    const body = invokeModel
      ? JSON.parse(Buffer.from(invokeModel.body, 'base64').toString())
      : messagesFrom(chatOfConverse(converse));
    const same = (sent: Json) => {
      const counted = Object(sent['input']).converse;
      if (converse) expect(converseSaid(counted)).toEqual(converseSaid(converse));
      else expect(counted.messages[0].content[0].text).toBe(textOf(body.messages[0].content));
    };
    return { endpoint: 'messages', body, model, same };
  }
  const model = /\/models\/([^:]+)/.exec(url)?.[1] ?? '';
  const counted: Json = Object(asked['generateContentRequest'] ?? asked);
  const { model: _, ...native } = counted;
  const same = (sent: Json) => {
    const wrapped = Object(sent['generateContentRequest'] ?? sent);
    // A question of this kind says nothing of the answer.
    expect(geminiSaid(wrapped)).toEqual(geminiSaid({ ...native, generationConfig: undefined }));
    if (asked['generateContentRequest']) expect(wrapped.model).toBe(counted['model']);
  };
  return {
    endpoint: 'messages',
    body: messagesFrom(chatOfGemini({ ...native }, url)),
    model,
    same,
  };
}

const textOf = (content: unknown): unknown => (Array.isArray(content) ? content[0].text : content);

function check(recording: Recording): void {
  const { endpoint, body, model, same } = questionOf(recording);
  const inquiry: BaseAdapter | undefined = vendors.get(recording.vendor)?.counts?.[endpoint];
  if (inquiry === undefined) throw new Error('nobody counts this');
  const call: VendorCall = callAs({ streamed: false }, { ...body }, model);
  if (recording.status >= 400) return checkFault(recording, inquiry);
  const ask = inquiry.ask(call);
  same(JSON.parse(ask.body.toString('utf8')));
  expect(
    decodeURIComponent(recording.url.replace(/\?.*/, '')).endsWith(decodeURIComponent(ask.path)),
  ).toBe(true);
  const answer = inquiry.read(recording.reply, 'application/json', call);
  if (isFault(answer)) throw new Error(answer.message);
  const told = JSON.parse(recording.reply.toString('utf8'));
  const tokens = told.input_tokens ?? told.inputTokens ?? told.totalTokens;
  expect(JSON.parse(answer.body.toString('utf8'))).toEqual(
    endpoint === 'messages'
      ? { input_tokens: tokens }
      : { object: 'response.input_tokens', input_tokens: tokens },
  );
}

function checkFault({ status, headers, reply }: Recording, inquiry: BaseAdapter): void {
  const said = reply.toString('utf8');
  const { kind } = inquiry.fault(status, headers, said);
  // A model that the vendor does not count for is counted here.
  const want: FaultKind =
    status === 404 || said.includes('support counting') ? 'unknown_model' : 'bad_request';
  expect(kind).toBe(want);
}

describe.skipIf(recordingsFolder === undefined)('recorded counts of tokens', () => {
  it.each(vendorsOf(recordings))(
    'of %s are asked as they were and told in the client’s words',
    (vendor) =>
      suite.each(
        vendor,
        recordings.filter((one) => one.vendor === vendor),
        check,
      ),
  );
});
