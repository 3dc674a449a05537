import { type Change, editBytes, editPieces, jsonText } from '../../base/json-edit.ts';
import type { Fault } from '../../base/fault.ts';
import type { Adapter, Answer, Ask, Call, Inquiry } from '../adapter.ts';
import type { MessagesHost } from './anthropic-messages-ask.ts';
import { messagesFault, messagesFaultWithin } from './anthropic-messages-fault.ts';
import { counts, note, quantitiesOf, toldOf } from './anthropic-messages-usage.ts';
import { fitting } from './anthropic-native-fit.ts';
import { MessageCollector } from './anthropic-native-collect.ts';
import { fittingId } from './call-ids.ts';
import { MessageStream } from './anthropic-native-stream.ts';
import { inPieces } from './in-pieces.ts';
import { countOf, isObject, listOf, objectOf, parse, textOf } from './json.ts';
import { andDropped } from '../takes/translated.ts';
import { messagesVersionHeader } from './messages-headers.ts';
import { protocolFault } from './openai-chat-fault.ts';

/**
 * What the client's own headers say of the format: which version of it, and which of its betas
 * (platform.claude.com/docs/en/api/beta-headers, 2026-11).
 */
const formatHeaders = [messagesVersionHeader, 'anthropic-beta'] as const;

/**
 * Clients of `/v1/messages` and a vendor that speaks it: bytes untouched but for the model, what
 * this model would refuse, and a limit that it cannot reach.
 */
export function anthropicNative({
  path,
  bodyVersion,
  fetches,
}: Pick<MessagesHost, 'path' | 'bodyVersion' | 'fetches'> = {}): Adapter {
  return {
    ask(call) {
      const fitted = fitting(call);
      const changes = [
        ...commonChanges(call, bodyVersion),
        ...fitted.changes,
        ...(call.bounds ?? []),
      ];
      if (call.outputTokensMax !== undefined)
        changes.push({ path: ['max_tokens'], json: String(call.outputTokensMax) });
      if (call.streamUpstream && !call.stream) changes.push({ path: ['stream'], json: 'true' });
      const dropped = andDropped(undefined, [...fitted.dropped, ...othersLeftOut(call)]);
      return {
        ...askAt(path?.(call.upstreamModel, call.streamUpstream) ?? '/messages', call, changes),
        dropped,
      };
    },
    read(reply, contentType, call) {
      if (!/event-stream/i.test(contentType)) return readWhole(reply, call);
      const collector = new MessageCollector(call);
      collector.push(reply);
      const answer = collector.answer();
      return collector.meter.fault ?? answer;
    },
    stream: (call) => new MessageStream(call),
    collect: (call) => new MessageCollector(call),
    needsBytes: () => fetches === false,
    fault: messagesFault,
  };
}

/**
 * How many tokens a request has (platform.claude.com/docs/en/build-with-claude/token-counting,
 * 2026-11): costs nothing.
 */
export const anthropicCount: Inquiry = {
  ask: (call) => askAt('/messages/count_tokens', call, commonChanges(call)),
  read(reply) {
    const body = objectOf(parse(reply.toString('utf8')));
    if (countOf(body?.['input_tokens']) === undefined)
      return protocolFault('a count that tells no tokens');
    return { body: reply, quantities: undefined, upstreamId: undefined, outputText: '' };
  },
  fault: messagesFault,
};

/** The same where the model stands in no path, but the version in the body. */
export function anthropicCountAt(path: string, bodyVersion: string): Inquiry {
  const version: Change = { path: ['anthropic_version'], json: jsonText(bodyVersion) };
  return { ...anthropicCount, ask: (call) => askAt(path, call, [...commonChanges(call), version]) };
}

function commonChanges(call: Call, bodyVersion?: string): Change[] {
  const changes = withoutOthers(call);
  // Where the model stands in the path, the body tells the version.
  if (bodyVersion === undefined)
    changes.push({ path: ['model'], json: jsonText(call.upstreamModel) });
  else
    changes.push({ path: ['model'] }, { path: ['anthropic_version'], json: jsonText(bodyVersion) });
  return changes;
}

function askAt(path: string, call: Call, changes: readonly Change[]): Ask {
  return { path, headers: headersOf(call), ...inPieces(editPieces(call.bytes, changes)) };
}

const json = { 'content-type': 'application/json' } as const;

function headersOf({ clientHeaders }: Call): Ask['headers'] {
  let headers: Record<string, string> | undefined;
  for (const name of formatHeaders) {
    const value = clientHeaders?.[name];
    if (value === undefined) continue;
    headers ??= { 'content-type': 'application/json' };
    headers[name] = Array.isArray(value) ? value.join(',') : value;
  }
  return headers ?? json;
}

/**
 * What another model of the same conversation said with it would be refused here: thinking that no
 * Claude signed, signatures of calls, citations that it did not seal, ids of another alphabet, and
 * texts of white space alone.
 */
function withoutOthers(call: Call): Change[] {
  const changes: Change[] = [];
  listOf(call.body['messages']).forEach((message, i) => {
    const content = isObject(message) ? message['content'] : undefined;
    if (!Array.isArray(content) || !content.some(isOthers)) return;
    const said = isObject(message) && message['role'] === 'assistant';
    const kept = content
      .filter((block) => !isUnsigned(block) && !(said && isBlankText(block)))
      .map(withoutMark)
      .map(withoutElse)
      .map(withFittingId);
    changes.push({
      path: ['messages', i, 'content'],
      json: jsonText(kept.length ? kept : [{ type: 'text', text: '…' }]),
    });
  });
  return changes;
}

/** The thoughts among them, by name. */
const othersLeftOut = ({ body }: Call): string[] =>
  listOf(body['messages']).some((message) =>
    listOf(objectOf(message)?.['content']).some(
      (block) => isUnsigned(block) && objectOf(block)?.['thinking'] !== '',
    ),
  )
    ? ['messages[].content[].thinking']
    : [];

const isOthers = (block: unknown): boolean =>
  isUnsigned(block) ||
  isMarked(block) ||
  citesElse(block) ||
  isBlankText(block) ||
  foreignId(block) !== undefined;

/**
 * "text content blocks must contain non-whitespace text": models write such between their calls.
 */
const isBlankText = (block: unknown): boolean =>
  isObject(block) &&
  block['type'] === 'text' &&
  typeof block['text'] === 'string' &&
  block['text'].trim() === '';

const idsTaken = /^[a-zA-Z0-9_-]+$/;
const idNames = { tool_use: 'id', tool_result: 'tool_use_id' } as const;

/** Where a block has an id that Anthropic's pattern does not take (`functions.add:0`). */
function foreignId(block: unknown): 'id' | 'tool_use_id' | undefined {
  const type = isObject(block) ? block['type'] : undefined;
  if (!isObject(block) || (type !== 'tool_use' && type !== 'tool_result')) return undefined;
  const id = block[idNames[type]];
  return typeof id === 'string' && !idsTaken.test(id) ? idNames[type] : undefined;
}

function withFittingId(block: unknown): unknown {
  const name = foreignId(block);
  return name === undefined || !isObject(block)
    ? block
    : { ...block, [name]: fittingId(String(block[name]), idsTaken) };
}

const isUnsigned = (block: unknown): boolean =>
  isObject(block) && block['type'] === 'thinking' && block['signature'] === '';
const isMarked = (block: unknown): boolean =>
  isObject(block) && block['type'] === 'tool_use' && block['extra_content'] !== undefined;

/**
 * `encrypted_index` is Anthropic's own, and required
 * (platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool, 2026-11).
 */
const isElse = (citation: unknown): boolean =>
  isObject(citation) && citation['encrypted_index'] === '';
const citesElse = (block: unknown): boolean =>
  isObject(block) && listOf(block['citations']).some(isElse);

function withoutElse(block: unknown): unknown {
  if (!isObject(block) || !citesElse(block)) return block;
  const { citations, ...rest } = block;
  const kept = listOf(citations).filter((citation) => !isElse(citation));
  return kept.length ? { ...rest, citations: kept } : rest;
}

function withoutMark(block: unknown): unknown {
  if (!isObject(block) || !isMarked(block)) return block;
  const { extra_content: _, ...rest } = block;
  return rest;
}

function readWhole(reply: Buffer, call: Call): Answer | Fault {
  const body = parse(reply.toString('utf8'));
  if (!isObject(body))
    return protocolFault(`an answer that is no JSON object: ${reply.toString('utf8', 0, 120)}`);
  const fault = messagesFaultWithin(body);
  if (fault) return fault;
  if (!Array.isArray(body['content'])) return protocolFault('an answer without content');
  const counted = counts();
  note(counted, objectOf(body['usage']));
  counted.container ||= body['container'] != null;
  const quantities = quantitiesOf(counted);
  return {
    body: editBytes(reply, [
      { path: ['id'], json: jsonText(call.answerId) },
      { path: ['model'], json: jsonText(call.publicModel) },
    ]),
    quantities,
    told: toldOf(counted, textOf(body['model'])),
    upstreamId: textOf(body['id']),
    outputText: quantities ? '' : listOf(body['content']).map(wordsOf).join(''),
  };
}

/** What the model wrote in one block. */
function wordsOf(block: unknown): string {
  if (!isObject(block)) return '';
  return (
    textOf(block['text']) ??
    textOf(block['thinking']) ??
    (block['input'] === undefined ? '' : JSON.stringify(block['input']))
  );
}
