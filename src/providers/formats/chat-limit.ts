import { countOf } from '../../base/json.ts';
import type { VendorCall } from '../adapter.ts';
import type { ChatRequest } from './openai-chat/types.ts';

/**
 * The most tokens that the client wants written, within what the model can write. Of its two
 * members, `max_completion_tokens` wins. Undefined: the client sets no limit.
 */
export function chatTokensMax({
  body,
  outputTokensMax,
}: Pick<VendorCall<ChatRequest>, 'body' | 'outputTokensMax'>): number | undefined {
  const requested = countOf(body.max_completion_tokens) ?? countOf(body.max_tokens);
  return requested === undefined
    ? outputTokensMax
    : Math.min(requested, outputTokensMax ?? requested);
}
