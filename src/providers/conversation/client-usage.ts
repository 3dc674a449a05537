import type { JsonObject } from '../../base/json.ts';
import {
  inputMeasures,
  type Measure,
  outputMeasures,
  type Quantities,
} from '../../base/quantities.ts';

/** Chat's `usage` for quantities that Tollgate counted itself. */
export function chatUsage(quantities: Quantities): string {
  const sum = (of: readonly Measure[]): number =>
    of.reduce((total, measure) => total + (quantities[measure] ?? 0), 0);
  const prompt = sum(inputMeasures);
  const completion = sum(outputMeasures);
  const writes = sum(['cache_write_5m', 'cache_write_1h']);
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
  const {
    input = 0,
    audio_input = 0,
    image_input = 0,
    cached_input = 0,
    cache_write_5m = 0,
    cache_write_1h = 0,
  } = quantities;
  const { output = 0, reasoning = 0, audio_output = 0, image_output = 0 } = quantities;
  return {
    input_tokens: input + audio_input + image_input,
    cache_creation_input_tokens: cache_write_5m + cache_write_1h,
    cache_read_input_tokens: cached_input,
    cache_creation: {
      ephemeral_5m_input_tokens: cache_write_5m,
      ephemeral_1h_input_tokens: cache_write_1h,
    },
    output_tokens: output + reasoning + audio_output + image_output,
    output_tokens_details: { thinking_tokens: reasoning },
    server_tool_use: null,
    service_tier: 'standard',
  };
}

/** Responses' `usage` for quantities. */
export function responsesUsage(quantities: Quantities): JsonObject {
  const sum = (of: readonly Measure[]): number =>
    of.reduce((total, measure) => total + (quantities[measure] ?? 0), 0);
  const input = sum(inputMeasures);
  const output = sum(outputMeasures);
  const written = (quantities.cache_write_5m ?? 0) + (quantities.cache_write_1h ?? 0);
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: quantities.cached_input ?? 0,
      cache_write_tokens: written,
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
  const sum = (of: readonly Measure[]): number =>
    of.reduce((total, measure) => total + (quantities[measure] ?? 0), 0);
  const prompt = sum(inputMeasures);
  const { cached_input: cached = 0, reasoning = 0 } = quantities;
  const output = sum(outputMeasures) - reasoning;
  return {
    promptTokenCount: prompt,
    ...(cached > 0 ? { cachedContentTokenCount: cached } : {}),
    candidatesTokenCount: output,
    ...(reasoning > 0 ? { thoughtsTokenCount: reasoning } : {}),
    totalTokenCount: prompt + output + reasoning,
  };
}
