import { responsesOverFunctions } from '../bridges/responses-over-functions.ts';
import { forAllImageOperations } from '../formats/adapters.ts';
import { xaiSpeech, xaiTranscriptions } from '../formats/audio/xai.ts';
import type { FaultRule } from '../formats/fault.ts';
import { xaiEdits, xaiImages } from '../formats/images/xai.ts';
import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { openaiResponses } from '../formats/openai-responses/adapter.ts';
import { xaiVideo } from '../formats/video/xai.ts';
import type { SupportRow } from '../support/rows.ts';
import { openaiOnlyExcept, openrouterOnly, toolHints } from '../support/unsupported.ts';
import { defineVendor } from '../vendor.ts';

const faults: readonly FaultRule[] = [
  // The status and the code are those of a forbidden key; only the text distinguishes them (seen by
  // clients since 2025-08).
  { status: 403, text: /violates usage guidelines/i, kind: 'content_policy' },
  { status: 400, text: /maximum prompt length/i, kind: 'context_length' },
  { text: /used all available credits|spending limit/i, kind: 'quota' },
];

const reference = 'docs.x.ai/docs/api-reference, 2026-08';
const reasoning = 'docs.x.ai/developers/model-capabilities/text/reasoning, 2026-08';

const thinking = /^grok-(?:[4-9]|3-mini|code|build)(?!.*non-reasoning)/;

/**
 * "does not support parameter reasoningEffort" (chenyme/grok2api#814, 2026-08): only some of the
 * reasoning models take an effort.
 */
const efforts: readonly SupportRow[] = [
  { source: reasoning, effort: { takes: [], usual: 'none' } },
  { source: reasoning, models: thinking, effort: { takes: [] } },
  {
    source: reasoning,
    models: /^grok-3-mini/,
    effort: { takes: ['low', 'high'], map: { medium: 'high' } },
  },
  {
    source: 'vercel/ai @ai-sdk/xai 4.0.0, 2026-06',
    models: /^grok-4\.3/,
    effort: { takes: ['none', 'low', 'medium', 'high'] },
  },
  // "Reasoning cannot be disabled" (anomalyco/opencode#39448, 2026-08).
  { source: reasoning, models: /^grok-4\.[5-9]/, effort: { takes: ['low', 'medium', 'high'] } },
  {
    source: 'chenyme/grok2api#901, 2026-08',
    models: /^grok-4\.[6-9]/,
    effort: { takes: ['low', 'medium', 'high', 'xhigh'] },
  },
  // Here the effort is the number of agents that work together.
  {
    source: reasoning,
    models: /^grok-4\.20-multi-agent/,
    effort: { takes: ['low', 'medium', 'high', 'xhigh'] },
  },
];

const takes: readonly SupportRow[] = [
  ...efforts,
  {
    source: reference,
    stops: 4,
    tools: ['function', 'live_search'],
    toolsLack: toolHints,
    choices: ['tool'], // recorded 2026-08 with five models: the tool is called
    lacks: [
      ...openaiOnlyExcept('web_search_options'),
      ...openrouterOnly,
      'logit_bias',
      'include_reasoning',
      'reasoning_format',
    ],
    messages: { assistant: ['reasoning_content', 'refusal'], documents: 'file' },
  },
  // "presencePenalty, frequencyPenalty and stop parameters are not supported by reasoning models."
  {
    source: reasoning,
    models: thinking,
    stops: 0,
    lacks: ['presence_penalty', 'frequency_penalty'],
  },
];

const responsesTakes: readonly SupportRow[] = [
  ...efforts,
  {
    source: 'docs.x.ai/docs/api-reference#create-new-response, 2026-08',
    lacks: [
      'client_metadata',
      'prompt_cache_retention',
      'prompt_cache_options',
      'safety_identifier',
      'text.verbosity',
    ],
  },
  // "Argument not supported: external_web_access" (makecindy/cindy#4336, 2026-09). The search for
  // tools is left out, so that none is loaded later.
  { source: 'makecindy/cindy#4336, 2026-09', toolsLack: ['external_web_access', 'defer_loading'] },
];

/**
 * docs.x.ai/docs/api-reference, 2026-08. Errors are strings beside a code; a wrong key is a 400
 * (recorded 2026-08).
 */
export const xai = defineVendor({
  id: 'xai',
  provider: 'x_ai',
  baseUrl: 'https://api.x.ai/v1',
  consoleUrl: 'https://console.x.ai',
  env: { apiKey: 'XAI_API_KEY' },
  // Recorded 2026-08: 502 reasoning tokens where the limit was 100. The visible answer keeps the
  // limit.
  thinksBeyondLimit: true,
  adapters: {
    ...forAllImageOperations(xaiEdits(faults)),
    images: xaiImages(faults),
    chat: openaiChat({ takes, faults }),
    // Its main interface since 2026 (docs.x.ai/docs/guides/chat, 2026-08). 422 "unknown variant
    // `custom`, expected one of `function`, …" (james-6-23/codex2api#516, 2026-08), 400 with a
    // namespace (router-for-me/CLIProxyAPI#5257, 2026-08), 422 with items of custom calls (#3704)
    // and `additional_tools` (#4434).
    responses: responsesOverFunctions(
      openaiResponses({
        faults,
        takes: responsesTakes,
        seals: /^grok-(?:4|[5-9])/,
        // "Could not decrypt the provided encrypted_content" for OpenAI's, which alone begin so
        // (NousResearch/hermes-agent#32617, 2026-05; recorded 2026-08).
        ownSeals: /^(?!gAAAA)./,
      }),
    ),
    transcriptions: xaiTranscriptions(faults),
    speech: xaiSpeech(faults),
    video: xaiVideo({ faults }),
  },
});
