import { isJson, type Json, list, object } from './json.ts';
import type { ChatRequest } from './request.ts';

/** Limits of the search for a schema in a text. */
const candidatesMax = 200;
const charsMax = 200_000;

/** A schema in the text of a prompt, and the prompt without it. */
export interface PromptSchema {
  readonly schema: Json;
  /** The user's last message, without the schema. */
  readonly prompt: string;
}

/** Phrases with which SDKs ask for JSON when they send no format. */
const wantsJson =
  /\b(?:respond|answer|return|reply|output|match(?:es|ing)?|conform\w*|must|only)\b[^\n]{0,160}\bJSON\b|\bJSON\b[^\n]{0,160}\b(?:respond|answer|return|reply|output|match(?:es|ing)?|conform\w*|must|only)\b/i;

/**
 * The JSON schema in the text of a system or user message: many SDKs write it there for vendors
 * without `json_schema`, with `json_object` or alone. Without a format it counts only where the
 * same message asks for JSON.
 */
export function schemaInPrompt(
  { messages, format }: ChatRequest,
  prompt: string,
): PromptSchema | undefined {
  for (const { role, text } of messages.toReversed()) {
    if (role !== 'system' && role !== 'developer' && role !== 'user') continue;
    if (text.length > charsMax || (format.type === 'text' && !wantsJson.test(text))) continue;
    for (const written of objectsIn(text)) {
      const schema = schemaIn(parsed(written));
      if (schema !== undefined) return { schema, prompt: prompt.replace(written, '') };
    }
  }
  return undefined;
}

/** The text of each outermost pair of braces. */
function* objectsIn(text: string): Generator<string> {
  let at = text.indexOf('{');
  for (let seen = 0; at >= 0 && seen < candidatesMax; seen++) {
    const end = endOf(text, at);
    if (end === undefined) at = text.indexOf('{', at + 1);
    else {
      yield text.slice(at, end);
      at = text.indexOf('{', end);
    }
  }
}

function endOf(text: string, from: number): number | undefined {
  let depth = 0;
  let inString = false;
  for (let i = from; i < text.length; i++) {
    const char = text[i];
    if (inString && char === '\\') i++;
    else if (char === '"') inString = !inString;
    else if (!inString && char === '{') depth++;
    else if (!inString && char === '}' && --depth === 0) return i + 1;
  }
  return undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The schema itself, or the one inside a format (`{"type": "json_schema", …}`). */
function schemaIn(value: unknown): Json | undefined {
  if (!isJson(value)) return undefined;
  const inner = object(value['json_schema'])['schema'] ?? value['schema'];
  if (isJson(inner)) return schemaIn(inner);
  const isObject = value['type'] === 'object' && isJson(value['properties']);
  const isReference =
    typeof value['$ref'] === 'string' && isJson(value['$defs'] ?? value['definitions']);
  return isObject ||
    isReference ||
    [...list(value['anyOf']), ...list(value['oneOf'])].some((one) => isJson(one))
    ? value
    : undefined;
}
