import type { Quantities } from '../../base/quantities.ts';

/**
 * A message's `usage` for quantities that are ours or another format's (wire-formats §4.1).
 * Thinking is part of the output.
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
