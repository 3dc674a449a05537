import { formatUnitYuan } from '../base/money.ts';
import type { Measure } from '../base/quantities.ts';
import type { PriceLine, Tariff } from '../catalog/price.ts';
import type { ModelKind, Offer } from '../catalog/snapshot.ts';

/**
 * What a model reads and writes by its kind, where the catalog does not say it.
 */
const usualModalities: Readonly<
  Record<ModelKind, { readonly in: readonly string[]; readonly out: readonly string[] }>
> = {
  chat: { in: ['text'], out: ['text'] },
  completion: { in: ['text'], out: ['text'] },
  embedding: { in: ['text'], out: ['embeddings'] },
  moderation: { in: ['text'], out: ['scores'] },
  rerank: { in: ['text'], out: ['scores'] },
  image: { in: ['text'], out: ['image'] },
  transcription: { in: ['audio'], out: ['text'] },
  speech: { in: ['text'], out: ['audio'] },
  video: { in: ['text'], out: ['video'] },
};

/**
 * OpenRouter's names of what is priced (openrouter.ai/docs/api-reference/list-available-models,
 * 2026-11). A measure that OpenRouter does not know keeps its own name.
 */
const pricedNames: Readonly<Partial<Record<Measure, string>>> = {
  input: 'prompt',
  output: 'completion',
  cached_input: 'input_cache_read',
  cache_write_5m: 'input_cache_write',
  cache_write_1h: 'input_cache_write_1h',
  reasoning: 'internal_reasoning',
  audio_input: 'audio',
  image_input: 'image_token',
};

/**
 * What clients of OpenAI's format ignore and others read: OpenRouter's members, the names that vLLM
 * and Groq have for the context, and the price of this group at `at` (wall clock, ms).
 */
export function modelFacts(offer: Offer, at: number): object {
  const { context, outputTokensMax, modalities, kind, id } = offer.model;
  const { in: input, out: output } = modalities ?? usualModalities[kind];
  return {
    name: id,
    context_length: context ?? null,
    context_window: context ?? null,
    max_model_len: context ?? null,
    max_completion_tokens: outputTokensMax ?? null,
    architecture: {
      modality: `${input.join('+')}->${output.join('+')}`,
      input_modalities: input,
      output_modalities: output,
    },
    pricing: pricingOf(offer, at),
    currency: 'CNY',
    top_provider: {
      context_length: context ?? null,
      max_completion_tokens: outputTokensMax ?? null,
      is_moderated: false,
    },
  };
}

/** Yuan for one token, image, second, call and so on, as decimals without an exponent. */
function pricingOf({ price, tariff }: Offer, at: number): Readonly<Record<string, string>> {
  const now = tariff.terms?.plainAt(at) ?? tariff;
  const pricing: Record<string, string> = { prompt: '0', completion: '0' };
  for (const { measure, rate } of soldAtFirst(now))
    if (price.rates[measure] !== undefined || price.by?.measure === measure)
      pricing[pricedNames[measure] ?? measure] = formatUnitYuan(rate);
  return pricing;
}

/** The rates of the shortest request. Of a measure with variants, the rate of an unlisted one. */
function soldAtFirst({
  bands,
  variants,
  fees,
}: Tariff): readonly Pick<PriceLine, 'measure' | 'rate'>[] {
  const otherwise = variants?.otherwise;
  return [
    ...(bands[0]?.sold ?? []),
    ...(otherwise === undefined ? [] : [otherwise]),
    ...fees.values(),
  ];
}
