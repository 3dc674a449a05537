import { type Change, edit, jsonText } from '../../base/json-edit.ts';
import type { Call } from '../adapter.ts';
import { type JsonObject, rawMembers } from './json.ts';

/**
 * Members of a vendor's response that stay between it and us: who pays there (recorded 2026-08),
 * and Azure's filter results.
 */
const hidden = ['billing', 'content_filters'] as const;

/**
 * A vendor's response object (`latin1` JSON text) as the client's: our id, the model as it was
 * asked for, and what the client asked of our memory (the vendor keeps nothing). Everything else
 * keeps its bytes.
 */
export function rewriteResponse(text: string, call: Call, path: readonly string[] = []): string {
  const { body } = call;
  const changes: Change[] = [
    { path: [...path, 'id'], json: jsonText(call.answerId) },
    { path: [...path, 'model'], json: jsonText(call.publicModel) },
    { path: [...path, 'store'], json: jsonText(body['store'] ?? true) },
    { path: [...path, 'background'], json: jsonText(body['background'] ?? false) },
    {
      path: [...path, 'previous_response_id'],
      json: jsonText(body['previous_response_id'] ?? null),
    },
    ...hidden.map((name) => ({ path: [...path, name] })),
  ];
  return edit(text, changes);
}

/** What `text`, an object, has under `name`; `''` when nothing. */
export const memberText = (text: string, name: string): string => rawMembers(text).get(name) ?? '';

/** A response that money ended: what was said so far, and why no more. */
export function cutResponse(begun: string, output: readonly string[], usage: JsonObject): string {
  return edit(begun, [
    { path: ['status'], json: '"incomplete"' },
    { path: ['incomplete_details'], json: '{"reason":"max_output_tokens"}' },
    { path: ['output'], json: `[${output.join(',')}]` },
    { path: ['usage'], json: jsonText(usage) },
  ]);
}
