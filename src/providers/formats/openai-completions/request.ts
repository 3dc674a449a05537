import {
  type Documented,
  type JsonChange,
  editJsonBytes,
  jsonText,
  listOf,
} from '../../../base/json.ts';
import { refuse } from '../../../base/refusal.ts';
import type { VendorRequest, VendorCall } from '../../adapter.ts';
import { serviceTierChanges } from '../../billable-features.ts';
import type { FaultRule } from '../fault.ts';
import { jsonHeaders } from '../json-request.ts';
import type { TextCompletionRequest } from './types.ts';

/** How a vendor departs from OpenAI's `/completions`. */
export interface CompletionQuirks {
  /** The path under the base URL; `/completions` by default. */
  readonly path?: string;
  /** `prompt` is a string: lists of prompts and tokens are refused. */
  readonly onePrompt?: boolean;
  /**
   * Whether the vendor takes `stream_options.include_usage`. False: it refuses the member and sends
   * usage always.
   */
  readonly streamOptions?: boolean;
  /** Renamed members: client's name → vendor's name. */
  readonly rename?: Readonly<Record<string, string>>;
  /** Members that the vendor refuses and whose removal does not change the answer. */
  readonly drop?: readonly string[];
  readonly faults?: readonly FaultRule[];
}

/**
 * The client's bytes, except for the model, members that metering needs, and renamed or dropped
 * ones.
 */
export function completionRequest(call: VendorCall, quirks: CompletionQuirks): VendorRequest {
  const { body } = call;
  const { prompt }: Documented<TextCompletionRequest> = body;
  const changes: JsonChange[] = [
    { path: ['model'], json: jsonText(call.upstreamModel) },
    ...serviceTierChanges(call),
  ];
  if (quirks.onePrompt === true && typeof prompt !== 'string')
    changes.push({ path: ['prompt'], json: jsonText(onlyPrompt(call)) });
  for (const [from, name] of Object.entries(quirks.rename ?? {}))
    if (body[from] !== undefined) changes.push({ path: [from], name });
  for (const member of quirks.drop ?? [])
    if (body[member] !== undefined) changes.push({ path: [member] });
  // The wish for the cost, which the gateway tells by itself.
  if (body['usage'] !== undefined) changes.push({ path: ['usage'] });
  if (call.outputTokensMax !== undefined)
    changes.push({ path: ['max_tokens'], json: String(call.outputTokensMax) });
  if (call.streamUpstream && !call.stream) changes.push({ path: ['stream'], json: 'true' });
  if (quirks.streamOptions === false) changes.push({ path: ['stream_options'] });
  else if (call.streamUpstream && !call.includeUsage)
    changes.push({ path: ['stream_options', 'include_usage'], json: 'true' });
  return {
    path: quirks.path ?? '/completions',
    headers: jsonHeaders,
    body: editJsonBytes(call.bytes, changes, call.skeleton),
  };
}

/**
 * The one text that a request completes. Throws the Refusal of lists and of tokens, which only some
 * vendors read.
 */
export function onlyPrompt({ body, publicModel }: VendorCall<TextCompletionRequest>): string {
  const { prompt } = body;
  const [first, ...more] = typeof prompt === 'string' ? [prompt] : listOf(prompt);
  if (typeof first !== 'string')
    refuse('invalid_type', {
      param: 'prompt',
      expected: 'a string or an array of strings',
      got: 'tokens',
    });
  if (more.length > 0)
    refuse('invalid_value', {
      param: 'prompt',
      why: `the model '${publicModel}' completes one prompt at a time while it is streamed, or while the balance is short.`,
    });
  return first;
}

/** Whether the request has one answer to each prompt. */
export const asksOneAnswer = ({
  body: { n, best_of: bestOf },
}: VendorCall<TextCompletionRequest>): boolean => Number(n ?? 1) === 1 && Number(bestOf ?? 1) === 1;

/** Whether the request has one answer to each prompt, and no log probabilities. */
export const asksPlainly = (call: VendorCall<TextCompletionRequest>): boolean =>
  asksOneAnswer(call) && typeof call.body.logprobs !== 'number';
