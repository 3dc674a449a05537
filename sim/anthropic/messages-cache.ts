import { isJson, type Json, list, object, shown } from '../json.ts';
import { countTokens } from '../tokens.ts';
import { at, type Complaints, members, oneOf } from './complaints.ts';

const marksMax = 4;
/** The vendor does not cache shorter prompts (…/build-with-claude/prompt-caching, 2026-11). */
const cacheTokensMin = 1024;

interface Mark {
  readonly place: string;
  readonly mark: Json;
  /** Tokens from the start of the prompt to the end of the marked block. */
  readonly tokens: number;
}

/**
 * The cache marks in the order of the prompt (tools, system, messages); a mark on the whole request
 * stands at its end.
 */
function marksOf(raw: Json): Mark[] {
  const marks: Mark[] = [];
  let tokens = 0;
  const pass = (value: unknown, place: string): void => {
    const block = object(value);
    tokens += countTokens(typeof block['text'] === 'string' ? block['text'] : shown(value));
    if (isJson(block['cache_control']))
      marks.push({ place: at(place, 'cache_control'), mark: block['cache_control'], tokens });
  };
  for (const [i, tool] of list(raw['tools']).entries()) pass(tool, at('tools', i));
  for (const [i, block] of blocksIn(raw['system']).entries()) pass(block, at('system', i));
  for (const [i, message] of list(raw['messages']).entries())
    for (const [j, block] of blocksIn(object(message)['content']).entries())
      pass(block, at('messages', i, 'content', j));
  if (isJson(raw['cache_control']))
    marks.push({ place: 'cache_control', mark: raw['cache_control'], tokens });
  return marks;
}

const blocksIn = (content: unknown): readonly unknown[] =>
  typeof content === 'string' ? [{ text: content }] : list(content);

export function* cacheComplaints(raw: Json): Complaints {
  const marks = marksOf(raw);
  for (const { mark, place } of marks) {
    yield* members(mark, `${place}.ephemeral`, 'type', 'ttl');
    yield* oneOf(mark['type'], `${place}.type`, ['ephemeral']);
    yield* oneOf(mark['ttl'], `${place}.ephemeral.ttl`, ['5m', '1h']);
  }
  if (marks.length > marksMax)
    yield `A maximum of ${marksMax} blocks with cache_control may be provided. Found ${marks.length}.`;
  const short = marks.findIndex(({ mark }) => mark['ttl'] !== '1h');
  const late = short < 0 ? undefined : marks.slice(short).find(({ mark }) => mark['ttl'] === '1h');
  if (late !== undefined)
    yield `${late.place}.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: \`tools\`, \`system\`, \`messages\`.`;
}

/**
 * Tokens that the request writes to the cache, by lifetime: those that the marks cover, without
 * `read`, which came from the cache.
 */
export function written(
  raw: Json,
  read: number,
): { readonly minutes: number; readonly hour: number } {
  let [from, minutes, hour] = [read, 0, 0];
  for (const { mark, tokens } of marksOf(raw)) {
    if (tokens < cacheTokensMin || tokens <= from) continue;
    if (mark['ttl'] === '1h') hour += tokens - from;
    else minutes += tokens - from;
    from = tokens;
  }
  return { minutes, hour };
}
