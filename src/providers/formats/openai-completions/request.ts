import { type JsonChange, editJsonBytes, jsonText } from '../../../base/json-edit.ts';
import { refuse } from '../../../base/refusal.ts';
import type { VendorRequest, VendorCall } from '../../adapter.ts';
import { listOf } from '../../../base/json-value.ts';
import type { FaultRule } from '../openai-chat/quirks.ts';
import { serviceTierChanges } from '../tiers.ts';

/** How a vendor departs from OpenAI's `/completions`. */
export interface CompletionQuirks {
  /** Under the base URL; `/completions` by default. */
  readonly path?: string;
  /** `prompt` is a string: lists of prompts and tokens are refused. */
  readonly onePrompt?: boolean;
  /**
   * Takes `stream_options.include_usage`. False: the member is refused, and usage comes unasked.
   */
  readonly streamOptions?: boolean;
  /** Members under another name: client's → vendor's. */
  readonly rename?: Readonly<Record<string, string>>;
  /** Members that the vendor refuses and that change nothing of what is asked. */
  readonly drop?: readonly string[];
  readonly faults?: readonly FaultRule[];
}

const headers = { 'content-type': 'application/json' } as const;

/**
 * The client's bytes but for the model, what metering needs, and what this vendor calls otherwise.
 */
export function completionRequest(call: VendorCall, quirks: CompletionQuirks): VendorRequest {
  const { body } = call;
  const changes: JsonChange[] = [
    { path: ['model'], json: jsonText(call.upstreamModel) },
    ...serviceTierChanges(call),
  ];
  if (quirks.onePrompt === true && typeof body['prompt'] !== 'string')
    changes.push({ path: ['prompt'], json: jsonText(onlyPrompt(call)) });
  for (const [from, name] of Object.entries(quirks.rename ?? {}))
    if (body[from] !== undefined) changes.push({ path: [from], name });
  for (const member of quirks.drop ?? [])
    if (body[member] !== undefined) changes.push({ path: [member] });
  if (call.outputTokensMax !== undefined)
    changes.push({ path: ['max_tokens'], json: String(call.outputTokensMax) });
  if (call.streamUpstream && !call.stream) changes.push({ path: ['stream'], json: 'true' });
  if (quirks.streamOptions === false) changes.push({ path: ['stream_options'] });
  else if (call.streamUpstream && !call.includeUsage)
    changes.push({ path: ['stream_options', 'include_usage'], json: 'true' });
  return { path: quirks.path ?? '/completions', headers, body: editJsonBytes(call.bytes, changes) };
}

/**
 * The one text that a request asks to complete. Throws the Refusal of lists and of tokens, which
 * only some vendors read.
 */
export function onlyPrompt({ body, publicModel }: VendorCall): string {
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

/** One answer to each prompt. */
export const asksOneAnswer = ({ body: { n, best_of: bestOf } }: VendorCall): boolean =>
  Number(n ?? 1) === 1 && Number(bestOf ?? 1) === 1;

/** The same, and nothing told beside it. */
export const asksPlainly = (call: VendorCall): boolean =>
  asksOneAnswer(call) && typeof call.body['logprobs'] !== 'number';
