import {
  type Conversation,
  isBlank,
  type Part,
  refusePart,
  type ToolResult,
  type Turn,
} from './chat-conversation.ts';
import { type JsonObject, listOf, textOf } from './json.ts';

export interface CohereWriting {
  /** As the client calls it, for refusals. */
  readonly model: string;
  /** The model reasons, and takes its thoughts back. */
  readonly thinks: boolean;
  /** Further instructions. */
  readonly told: readonly string[];
}

/**
 * A conversation in Cohere's words: the roles of OpenAI's, with a plan beside calls and thoughts
 * among the content (docs.cohere.com/v2/reference/chat, 2026-08).
 */
export function cohereMessages(
  { system, turns }: Conversation,
  writing: CohereWriting,
): JsonObject[] {
  const instructions = [...system.map((part) => part.text), ...writing.told].join('\n');
  const messages = instructions === '' ? [] : [{ role: 'system', content: instructions }];
  const spoken = turns.flatMap((turn) =>
    turn.role === 'user' ? userMessages(turn, writing) : [assistantMessage(turn, writing)],
  );
  // An answer follows what a user or a tool says.
  const nudge = turns.at(-1)?.role === 'assistant' ? [{ role: 'user', content: 'Continue.' }] : [];
  return [...messages, ...spoken, ...nudge];
}

function userMessages({ results, parts }: Turn, { model }: CohereWriting): JsonObject[] {
  const messages: JsonObject[] = results.map((result) => ({
    role: 'tool',
    tool_call_id: result.id,
    content: resultText(result, model),
  }));
  let said: Part[] = [];
  const speak = (): void => {
    if (said.length > 0) messages.push({ role: 'user', content: contentOf(said, model) });
    said = [];
  };
  for (const part of parts) {
    if (isBlank(part)) continue;
    if (part.kind !== 'text' || part.instruction === undefined) {
      said.push(part);
      continue;
    }
    // Instructions are taken wherever they stand (recorded).
    speak();
    messages.push({ role: 'system', content: part.instruction });
  }
  speak();
  return messages;
}

const contentOf = (parts: readonly Part[], model: string): unknown =>
  parts.every((part) => part.kind === 'text')
    ? joined(parts)
    : parts.map((part) => partOf(part, model));

function partOf(part: Part, model: string): JsonObject {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  if (part.kind !== 'image') return refusePart(part, model, 'text and images');
  const { source } = part;
  return {
    type: 'image_url',
    image_url: {
      url: 'url' in source ? source.url : `data:${source.mime};base64,${source.base64}`,
    },
  };
}

const joined = (parts: readonly Part[]): string =>
  parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');

function resultText({ parts }: ToolResult, model: string): string {
  const media = parts.find((part) => part.kind !== 'text');
  return media ? refusePart(media, model, 'text in tool results') : joined(parts);
}

/** The text of a thought has one of two names in the convention. */
const thoughtOf = (message: JsonObject): string =>
  textOf(message['reasoning_content']) ?? textOf(message['reasoning']) ?? '';

/** Whether the thought of this message goes on: as a thought, or as the plan of its calls. */
export const carriesThought = (message: JsonObject, thinks: boolean): boolean =>
  thoughtOf(message) !== '' && (thinks || listOf(message['tool_calls']).length > 0);

function assistantMessage(
  { parts, calls, messages }: Turn,
  { model, thinks }: CohereWriting,
): JsonObject {
  const media = parts.find((part) => part.kind !== 'text');
  if (media) refusePart(media, model, 'text in the assistant’s turns');
  const text = joined(parts);
  const thought = messages.map(thoughtOf).join('');
  const thinking = thinks && thought !== '' ? [{ type: 'thinking', thinking: thought }] : [];
  const content = [...thinking, ...(text.trim() === '' ? [] : [{ type: 'text', text }])];
  const plan = !thinks && thought !== '' && calls.length > 0 ? { tool_plan: thought } : {};
  const written = calls.map(({ id, name, input }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }));
  return {
    role: 'assistant',
    ...(content.length ? { content } : {}),
    ...(written.length ? { tool_calls: written, ...plan } : {}),
  };
}
