import {
  type Documented,
  type JsonChange,
  jsonText,
  listOf,
  objectOf,
  objectsOf,
  stringOf,
  textOf,
  countOf,
} from '../../../base/json.ts';
import type { Quantities } from '../../../base/quantities.ts';
import type { PricingFacts, VendorCall } from '../../adapter.ts';
import { isThird, geminiModel } from './models.ts';
import { geminiQuantities } from './response.ts';
import type {
  GeminiCandidate,
  GeminiPart,
  GenerateContentResponse,
  UsageMetadata,
} from './types.ts';

/** What an answer costs, gathered from its events, or from the whole of it. */
export class GenerateUsage {
  readonly #call: VendorCall;
  #usage: Documented<UsageMetadata> | undefined;
  readonly #queries = new Set<string>();
  #isGrounded = false;

  constructor(call: VendorCall) {
    this.#call = call;
  }

  /** Counts are cumulative: the last ones hold. */
  add(body: Documented<GenerateContentResponse>): void {
    const usage = objectOf(body.usageMetadata);
    if (usage !== undefined) this.#usage = { ...this.#usage, ...usage };
    for (const candidate of objectsOf(body.candidates)) {
      const grounding = objectOf(candidate.groundingMetadata);
      if (grounding === undefined) continue;
      this.#isGrounded ||= listOf(grounding.webSearchQueries).length > 0;
      for (const query of listOf(grounding.webSearchQueries))
        this.#queries.add(`${countOf(candidate.index) ?? 0} ${stringOf(query)}`);
    }
  }

  /** The early counts of some models leave the output out: they do not count what was delivered. */
  get countsOutput(): boolean {
    return this.#usage !== undefined && 'candidatesTokenCount' in this.#usage;
  }

  /** Undefined where the vendor has reported none. */
  get quantities(): Quantities | undefined {
    if (this.#usage === undefined) return undefined;
    const tokens = geminiQuantities(this.#usage);
    return this.#isGrounded ? { ...tokens, grounding_query: this.#searches } : tokens;
  }

  /**
   * From the third generation on, each search has its fee; before, each grounded answer
   * (ai.google.dev/gemini-api/docs/google-search, 2026-11).
   */
  get #searches(): number {
    return isThird(geminiModel(this.#call.upstreamModel)) ? this.#queries.size : 1;
  }

  get pricingFacts(): PricingFacts | undefined {
    const tier = textOf(this.#usage?.serviceTier)?.toLowerCase();
    return this.#call.asksForTier === true && tier !== undefined ? { servedTier: tier } : undefined;
  }
}

/** Our id of the answer, and the client's name of the model, where the vendor's stand. */
export function answerChanges(
  body: Documented<GenerateContentResponse>,
  { answerId, publicModel }: VendorCall,
): JsonChange[] {
  const changes: JsonChange[] = [];
  if (body.responseId !== undefined)
    changes.push({ path: ['responseId'], json: jsonText(answerId) });
  if (body.modelVersion !== undefined)
    changes.push({ path: ['modelVersion'], json: jsonText(publicModel) });
  return changes;
}

/** What the model wrote in a candidate: text, thoughts, arguments and code. */
export const wordsOf = (candidate: Documented<GeminiCandidate>): string =>
  objectsOf(objectOf(candidate.content)?.parts).map(partWords).join('');

function partWords(part: Documented<GeminiPart>): string {
  const text = textOf(part.text);
  if (text !== undefined) return text;
  const call = objectOf(part.functionCall);
  if (call !== undefined) return JSON.stringify(call.args ?? {});
  const code = objectOf(part.executableCode);
  return textOf(code?.code) ?? textOf(objectOf(part.codeExecutionResult)?.output) ?? '';
}
