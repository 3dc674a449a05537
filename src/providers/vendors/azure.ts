import { forAllImageOperations } from '../formats/adapters.ts';
import { openaiTranscriptions, openaiSpeech } from '../formats/audio/openai.ts';
import { openaiEmbeddings } from '../formats/embeddings/openai.ts';
import type { FaultRule } from '../formats/fault.ts';
import { streamedImages } from '../formats/images/openai-stream.ts';
import { gptImages, openaiEdits, openaiImages } from '../formats/images/openai.ts';
import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { openaiCompletions } from '../formats/openai-completions/adapter.ts';
import {
  responsesCompact,
  responsesCount,
  openaiResponses,
} from '../formats/openai-responses/adapter.ts';
import { chatOverResponses, chatOrResponses } from '../formats/openai-responses/chat.ts';
import { openaiChatOverResponsesSupport, openaiChatSupport } from '../support/openai.ts';
import { defineVendor, secretIn } from '../vendor.ts';
import {
  callIds,
  functionsElsewhere,
  legacyCompletions,
  nativeResponses,
  speaking,
  transcribing,
} from './openai.ts';

/**
 * The last dated version of the legacy API
 * (learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle, 2026-08).
 */
const legacyVersion = '2024-10-21';
const responsesVersion = '2025-04-01-preview';

/**
 * Azure has two generations of addresses: `…/openai/v1` with the deployment in `model`, and
 * `…/openai/deployments/NAME` with a dated version. A base URL without a path is the resource's
 * endpoint and means the first, one that ends in `/openai` the second with the model's id as
 * deployment.
 */
function place(prefix: string, path: string, upstreamModel: string): string {
  if (prefix === '') return `/openai/v1${path}`;
  // Responses have one address for all deployments
  // (learn.microsoft.com/azure/ai-foundry/openai/how-to/responses, 2026-08).
  if (prefix.endsWith('/openai') && path.startsWith('/responses'))
    return `${path}?api-version=${responsesVersion}`;
  if (prefix.endsWith('/openai'))
    return `/deployments/${encodeURIComponent(upstreamModel)}${path}?api-version=${legacyVersion}`;
  return prefix.includes('/openai/deployments/') ? `${path}?api-version=${legacyVersion}` : path;
}

const faults: readonly FaultRule[] = [
  // learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter, 2026-08
  { status: 400, code: /^(content_filter|ResponsibleAIPolicyViolation)$/, kind: 'content_policy' },
  { code: /^DeploymentNotFound$/, kind: 'unknown_model' },
];

const imageFaults = [...gptImages.faults, ...faults];

const chat = chatOrResponses(
  openaiChat({ takes: openaiChatSupport, toolIds: callIds, faults }),
  chatOverResponses({ takes: openaiChatOverResponsesSupport, faults }),
  functionsElsewhere,
  openaiChatSupport,
);

export const azure = defineVendor({
  id: 'azure',
  consoleUrl: 'https://ai.azure.com',
  provider: 'azure.ai.openai',
  signsForAccount: true,
  ownedBy: 'openai',
  env: { apiKey: 'AZURE_OPENAI_API_KEY', baseUrl: 'AZURE_OPENAI_ENDPOINT' },
  sign: secretIn('api-key'),
  pathFor: place,
  adapters: {
    chat,
    responses: openaiResponses({ ...nativeResponses, faults }),
    compact: responsesCompact(faults),
    completions: legacyCompletions(chat, openaiCompletions({ faults })),
    embeddings: openaiEmbeddings({ faults }),
    transcriptions: openaiTranscriptions({ ...transcribing, faults }),
    translations: openaiTranscriptions({ ...transcribing, path: '/audio/translations', faults }),
    speech: openaiSpeech({ ...speaking, faults }),
    ...forAllImageOperations(
      streamedImages(openaiEdits({ ...gptImages, faults: imageFaults }), imageFaults),
    ),
    images: streamedImages(openaiImages({ ...gptImages, faults: imageFaults }), imageFaults),
  },
  counts: { responses: responsesCount(faults) },
});
