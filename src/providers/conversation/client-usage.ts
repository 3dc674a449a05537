import type { JsonObject } from '../../base/json.ts';
import {
  inputMeasures,
  type Measure,
  outputMeasures,
  type Quantities,
} from '../../base/quantities.ts';

const sumOf = (of: readonly Measure[], quantities: Quantities): number =>
  of.reduce((total, measure) => total + (quantities[measure] ?? 0), 0);

const cacheWrites = ({ cache_write_5m = 0, cache_write_1h = 0 }: Quantities): number =>
  cache_write_5m + cache_write_1h;

/** Chat's `usage` for quantities that Tollgate counted itself. */
export function chatUsage(quantities: Quantities): string {
  const prompt = sumOf(inputMeasures, quantities);
  const completion = sumOf(outputMeasures, quantities);
  const writes = cacheWrites(quantities);
  return JSON.stringify({
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: quantities.cached_input ?? 0,
      ...(writes > 0 ? { cache_write_tokens: writes } : {}),
      audio_tokens: quantities.audio_input ?? 0,
    },
    completion_tokens_details: {
      reasoning_tokens: quantities.reasoning ?? 0,
      audio_tokens: quantities.audio_output ?? 0,
    },
  });
}

/**
 * A message's `usage` for quantities that Tollgate or another format counted
 * (platform.claude.com/docs/en/api/messages, 2026-11). Thinking is part of the output.
 */
export function messageUsage(quantities: Quantities): Readonly<Record<string, unknown>> {
  const { cached_input: cached = 0, cache_write_5m = 0, cache_write_1h = 0 } = quantities;
  const written = cacheWrites(quantities);
  return {
    input_tokens: sumOf(inputMeasures, quantities) - cached - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    cache_creation: {
      ephemeral_5m_input_tokens: cache_write_5m,
      ephemeral_1h_input_tokens: cache_write_1h,
    },
    output_tokens: sumOf(outputMeasures, quantities),
    output_tokens_details: { thinking_tokens: quantities.reasoning ?? 0 },
    server_tool_use: null,
    service_tier: 'standard',
  };
}

/** Responses' `usage` for quantities. */
export function responsesUsage(quantities: Quantities): JsonObject {
  const input = sumOf(inputMeasures, quantities);
  const output = sumOf(outputMeasures, quantities);
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: quantities.cached_input ?? 0,
      cache_write_tokens: cacheWrites(quantities),
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: quantities.reasoning ?? 0 },
    total_tokens: input + output,
  };
}

/**
 * `usageMetadata` for quantities (ai.google.dev/api/generate-content#UsageMetadata, 2026-11). The
 * candidates leave the thinking out.
 */
export function generateUsage(quantities: Quantities): JsonObject {
  const prompt = sumOf(inputMeasures, quantities);
  const { cached_input: cached = 0, reasoning = 0 } = quantities;
  const output = sumOf(outputMeasures, quantities) - reasoning;
  return {
    promptTokenCount: prompt,
    ...(cached > 0 ? { cachedContentTokenCount: cached } : {}),
    candidatesTokenCount: output,
    ...(reasoning > 0 ? { thoughtsTokenCount: reasoning } : {}),
    totalTokenCount: prompt + output + reasoning,
  };
}
