import { type Json, list, object, text } from '../json.ts';
import type { Claude } from './claude.ts';
import { at, type Complaints, dictionary, either, members, textual } from './complaints.ts';
import { sourceComplaints } from './messages-media.ts';
import type { ServerTraits } from './messages-rules.ts';
import { newestVersion } from './versions.ts';
import { isRedacted, verify } from './thought.ts';

/**
 * Members of each block: the required ones, then the optional ones, and the roles that may send it.
 */
const blocks: Readonly<
  Record<string, readonly [required: string, optional: string, roles: string]>
> = {
  text: ['type text', 'cache_control citations', 'user assistant system'],
  image: ['type source', 'cache_control', 'user'],
  document: ['type source', 'cache_control citations context title', 'user assistant'],
  search_result: ['type content source title', 'cache_control citations', 'user'],
  container_upload: ['type file_id', 'cache_control', 'user'],
  tool_result: ['type tool_use_id', 'cache_control content is_error toolset_name', 'user'],
  tool_use: ['type id name input', 'cache_control caller toolset_name', 'assistant'],
  thinking: ['type thinking signature', '', 'assistant'],
  redacted_thinking: ['type data', '', 'assistant'],
};
/** Blocks of the vendor's own tools: the vendor wrote them itself. */
const ofServer =
  /^(?:server_tool_use|mcp_tool_use|[a-z_]+_tool_result|tool_addition|tool_reference|compaction)$/;

export function* turnComplaints(raw: Json, server: ServerTraits, claude: Claude): Complaints {
  yield* systemComplaints(raw['system']);
  if (!Array.isArray(raw['messages'])) yield 'messages: Input should be a valid list';
  const messages = list(raw['messages']).map(object);
  if (messages.length === 0) yield 'messages: at least one message is required';
  const roles = claude.systemTurns ? ['user', 'assistant', 'system'] : ['user', 'assistant'];
  for (const [index, message] of messages.entries()) {
    if (Object.keys(message).length === 0)
      yield `messages.${index}: Input does not match the expected shape.`;
    yield* oneMessage(message, at('messages', index), server, roles, index === messages.length - 1);
  }
  yield* pairs(messages);
  yield* thoughts(raw, messages);
  const last = messages.at(-1);
  if (last?.['role'] !== 'assistant') return;
  if (!claude.prefill)
    yield 'This model does not support assistant message prefill. The conversation must end with a user message.';
  const content =
    typeof last['content'] === 'string' ? last['content'] : text(blocksOf(last).at(-1)?.['text']);
  if (content !== undefined && /\s$/.test(content))
    yield 'messages: final assistant content cannot end with trailing whitespace';
}

function* systemComplaints(system: unknown): Complaints {
  if (system === undefined || typeof system === 'string') return;
  if (!Array.isArray(system)) yield 'system: Input should be a valid list';
  for (const [index, value] of list(system).entries()) {
    const block = object(value);
    yield* members(block, at('system', index), 'type text', 'cache_control citations');
    yield* spoken(block['text'], 'system', at('system', index, 'text'));
  }
}

function* spoken(content: unknown, whose: string, place: string): Complaints {
  yield* textual(content, place);
  if (content === '') yield `${whose}: text content blocks must be non-empty`;
  if (String(content).trim() === '')
    yield `${whose}: text content blocks must contain non-whitespace text`;
}

function* oneMessage(
  message: Json,
  place: string,
  server: ServerTraits,
  roles: readonly string[],
  last: boolean,
): Complaints {
  yield* members(message, place, 'role content', '');
  const role = String(message['role']);
  if (!roles.includes(role))
    yield role === 'system'
      ? 'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.'
      : `${place}.role: Input should be ${either(roles)}`;
  const content = message['content'];
  if (typeof content !== 'string' && !Array.isArray(content))
    yield `${place}.content: Input should be a valid list`;
  if (
    content === '' ||
    (Array.isArray(content) && content.length === 0 && !(last && role === 'assistant'))
  )
    yield `${place}: all messages must have non-empty content except for the optional final assistant message`;
  if (typeof content === 'string' && content.trim() === '')
    yield 'messages: text content blocks must contain non-whitespace text';
  for (const [index, block] of list(content).entries())
    yield* oneBlock(object(block), at(place, 'content', index), role, server);
}

function* oneBlock(
  block: Json,
  place: string,
  role: string,
  { version }: ServerTraits,
): Complaints {
  const type = String(block['type']);
  if (block['type'] === undefined) yield `${place}.type: Field required`;
  if (ofServer.test(type) && type !== 'tool_result') return;
  const row = blocks[type];
  if (row === undefined)
    return yield `${place}: Input tag '${type}' found using 'type' does not match any of the expected tags: ${either(Object.keys(blocks).sort())}`;
  const [required, optional, roles] = row;
  if (!roles.split(' ').includes(role))
    yield `messages: \`${type}\` blocks can only be in \`${roles}\` messages`;
  yield* members(block, at(place, type), required, optional);
  if (type === 'text') yield* spoken(block['text'], 'messages', at(place, type, 'text'));
  if (version === newestVersion && type === 'document' && role === 'assistant')
    yield `${place}: \`document\` blocks are not permitted in assistant messages`;
  if (
    version === newestVersion &&
    type === 'text' &&
    role === 'user' &&
    list(block['citations']).length > 0
  )
    yield `${at(place, type)}.citations: Extra inputs are not permitted`;
  if (type === 'image' || type === 'document')
    yield* sourceComplaints(block, type, at(place, type));
  if (type === 'tool_use') yield* call(block, at(place, type));
  if (type === 'tool_result') yield* result(block, at(place, type));
}

function* call(block: Json, place: string): Complaints {
  if (!/^[a-zA-Z0-9_-]+$/.test(String(block['id'])))
    yield `${place}.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
  if (!/^[a-zA-Z0-9_-]{1,200}$/.test(String(block['name'])))
    yield `${place}.name: String should match pattern '^[a-zA-Z0-9_-]{1,200}$'`;
  yield* dictionary(block['input'], `${place}.input`);
}

function* result(block: Json, place: string): Complaints {
  const { content, is_error: failed } = block;
  if (failed !== undefined && typeof failed !== 'boolean')
    yield `${place}.is_error: Input should be a valid boolean`;
  if (content !== undefined && typeof content !== 'string' && !Array.isArray(content))
    yield `${place}.content: Input should be a valid list`;
  for (const [index, value] of list(content).entries()) {
    const inner = object(value);
    const type = String(inner['type']);
    const here = at(place, 'content', index);
    if (
      !['text', 'image', 'document', 'search_result', 'tool_reference', 'browser_state'].includes(
        type,
      )
    )
      yield `${here}: Input tag '${type}' found using 'type' does not match any of the expected tags: 'document', 'image', 'search_result', 'text', 'tool_reference'`;
    if (type === 'text')
      yield* members(inner, at(here, type), 'type text', 'cache_control citations');
    if (type === 'text' && inner['text'] === '')
      yield 'messages: text content blocks must be non-empty';
    if (type === 'image' || type === 'document')
      yield* sourceComplaints(inner, type, at(here, type));
  }
}

/** A turn of one role, which may come as several messages. */
interface Turn {
  readonly role: string;
  readonly index: number;
  readonly blocks: readonly Json[];
}

const blocksOf = (message: Json): readonly Json[] =>
  typeof message['content'] === 'string'
    ? [{ type: 'text', text: message['content'] }]
    : list(message['content']).map(object);

/** Consecutive messages of one role are one turn (…/api/messages, `messages`). */
function turnsOf(messages: readonly Json[]): Turn[] {
  const turns: Turn[] = [];
  for (const [index, message] of messages.entries()) {
    const before = turns.at(-1);
    const blocks = blocksOf(message);
    if (before !== undefined && before.role === message['role'])
      turns[turns.length - 1] = { ...before, blocks: [...before.blocks, ...blocks] };
    else turns.push({ role: String(message['role']), index, blocks });
  }
  return turns;
}

/** Results follow their calls in the next turn and stand first in it; only calls have results. */
function* pairs(messages: readonly Json[]): Complaints {
  const turns = turnsOf(messages).filter(({ role }) => role !== 'system');
  const seen = new Set<unknown>();
  for (const [i, { role, index, blocks: content }] of turns.entries()) {
    const called = (turns[i - 1]?.blocks ?? [])
      .filter(({ type }) => type === 'tool_use')
      .map(({ id }) => id);
    for (const [j, { type, tool_use_id: of, id }] of content.entries()) {
      if (type === 'tool_result' && !called.includes(of))
        yield `messages.${index}.content.${j}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${String(of)}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
      if (type === 'tool_use' && seen.has(id))
        yield `messages.${index}.content.${j}: \`tool_use\` ids must be unique`;
      if (type === 'tool_use') seen.add(id);
    }
    if (role !== 'assistant') continue;
    const next = turns[i + 1]?.blocks ?? [];
    const results = next.slice(0, next.findLastIndex(({ type }) => type === 'tool_result') + 1);
    const first = results.filter(({ type }) => type === 'tool_result');
    const open = content
      .filter(
        ({ type, id }) =>
          type === 'tool_use' &&
          !(results.length === first.length && first.some((block) => block['tool_use_id'] === id)),
      )
      .map(({ id }) => String(id));
    if (open.length > 0)
      yield `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
  }
}

/**
 * Thinking comes back unchanged. With a thinking budget, the calls that wait for results have
 * theirs before them.
 */
function* thoughts(raw: Json, messages: readonly Json[]): Complaints {
  for (const [index, message] of messages.entries()) {
    for (const [j, block] of blocksOf(message).entries()) {
      const place = `messages.${index}.content.${j}`;
      if (block['type'] === 'redacted_thinking' && !isRedacted(String(block['data'])))
        yield `${place}: Invalid \`data\` in \`redacted_thinking\` block`;
      if (block['type'] !== 'thinking') continue;
      const verdict = verify(String(block['thinking']), String(block['signature']));
      if (verdict === 'foreign') yield `${place}: Invalid \`signature\` in \`thinking\` block`;
      if (verdict === 'changed')
        yield `${place}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`;
    }
  }
  if (object(raw['thinking'])['type'] !== 'enabled') return;
  const turns = turnsOf(messages);
  const [caller, waiting] = turns.slice(-2);
  if (caller?.role !== 'assistant' || !waiting?.blocks.some(({ type }) => type === 'tool_result'))
    return;
  const start = String(caller.blocks[0]?.['type']);
  if (!start.endsWith('thinking'))
    yield `messages.${caller.index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${start}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`.`;
}
