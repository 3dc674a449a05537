import type { JsonObject } from '../../../base/json.ts';
import type {
  ChatFunction,
  ChatRequest,
  ChatResponseFormat,
  ChatToolChoice,
} from '../openai-chat/types.ts';

/** A whole answer, or an event of a stream (ai.google.dev/api/generate-content, 2026-08). */
export interface GenerateContentResponse {
  readonly responseId: string;
  readonly modelVersion: string;
  readonly candidates: readonly GeminiCandidate[];
  readonly promptFeedback: PromptFeedback;
  readonly usageMetadata: UsageMetadata;
  readonly error: GoogleStatus;
}

/** Why a prompt was blocked (same page). */
export interface PromptFeedback {
  readonly blockReason: string;
  readonly blockReasonMessage: string;
}

/** One answer of several (same page). Proxies write the finish reason as a number. */
export interface GeminiCandidate extends CandidateSources {
  readonly index: number;
  readonly content: { readonly parts: readonly GeminiPart[] };
  readonly finishReason: string | number;
  readonly finishMessage: string;
  readonly logprobsResult: LogprobsResult;
}

/** The sources of a candidate: pages found, and works that its text resembles (same page). */
export interface CandidateSources {
  readonly groundingMetadata: GroundingMetadata;
  readonly citationMetadata: CitationMetadata;
}

/** A part of a content (ai.google.dev/api/caching#Part, 2026-08). */
export interface GeminiPart extends CodePart {
  readonly text: string;
  readonly thought: boolean;
  readonly thoughtSignature: string;
  readonly inlineData: { readonly mimeType: string; readonly data: string };
  readonly functionCall: GeminiFunctionCall;
}

/** Code that the model ran, or its result (same page). */
export interface CodePart {
  readonly executableCode: { readonly language: string; readonly code: string };
  readonly codeExecutionResult: { readonly output: string };
}

/** A call of one of the client's functions (ai.google.dev/api/caching#FunctionCall, 2026-08). */
export interface GeminiFunctionCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

/** Pages, and the passages that they support (ai.google.dev/api/generate-content, 2026-08). */
interface GroundingMetadata {
  readonly webSearchQueries: readonly string[];
  readonly groundingChunks: readonly GroundingChunk[];
  readonly groundingSupports: readonly GroundingSupport[];
}

/** A page, a place or a document (same page). */
export interface GroundingChunk {
  readonly web: GroundingSource;
  readonly maps: GroundingSource;
  readonly retrievedContext: GroundingSource;
}

/** The members that all kinds of chunks share (same page). */
interface GroundingSource {
  readonly uri: string;
  readonly title: string;
  readonly text: string;
}

/** A passage of the answer, and its chunks by their numbers (same page). */
interface GroundingSupport {
  readonly segment: Segment;
  readonly groundingChunkIndices: readonly number[];
}

/** A passage of the answer: its offsets count bytes (same page). */
export interface Segment {
  readonly startIndex: number;
  readonly endIndex: number;
  readonly text: string;
}

/** Works that the answer resembles; Vertex has the second name (same page). */
interface CitationMetadata {
  readonly citationSources: readonly CitationSource[];
  readonly citations: readonly CitationSource[];
}

/** A work, and the passage that resembles it (same page). */
interface CitationSource extends Segment {
  readonly uri: string;
  readonly title: string;
}

/** The probabilities of tokens (same page). */
export interface LogprobsResult {
  readonly chosenCandidates: readonly TokenCandidate[];
  readonly topCandidates: readonly { readonly candidates: readonly TokenCandidate[] }[];
}

/** `Candidate` of `LogprobsResult`: a token (same page). */
export interface TokenCandidate {
  readonly token: string;
  readonly logProbability: number;
}

/** The tokens of an answer (ai.google.dev/api/generate-content#UsageMetadata, 2026-08). */
export interface UsageMetadata {
  readonly promptTokenCount: number;
  readonly cachedContentTokenCount: number;
  readonly toolUsePromptTokenCount: number;
  readonly candidatesTokenCount: number;
  readonly thoughtsTokenCount: number;
  readonly serviceTier: string;
  readonly promptTokensDetails: readonly ModalityTokenCount[];
  readonly cacheTokensDetails: readonly ModalityTokenCount[];
  readonly candidatesTokensDetails: readonly ModalityTokenCount[];
}

/** The tokens of one modality (same page). */
export interface ModalityTokenCount {
  readonly modality: string;
  readonly tokenCount: number;
}

/** An error of Google's (cloud.google.com/apis/design/errors, 2026-08). */
export interface GoogleStatus {
  readonly code: number;
  readonly status: string;
  readonly message: string;
  readonly details: readonly ErrorDetail[];
}

/** `ErrorInfo`, `RetryInfo` or `BadRequest`, as `@type` says (same page). */
export interface ErrorDetail {
  readonly '@type': string;
  readonly reason: string;
  readonly retryDelay: string;
  readonly fieldViolations: readonly { readonly field: string }[];
}

/**
 * `extra_content` of a tool call in OpenAI's format: its signature
 * (ai.google.dev/gemini-api/docs/thought-signatures#openai, 2026-08).
 */
export interface GoogleCallContent {
  readonly google: { readonly thought_signature: string };
}

/** A client's request, with Google's members (ai.google.dev/gemini-api/docs/openai, 2026-08). */
export interface GeminiChatRequest extends ChatRequest {
  readonly tools?: readonly GeminiChatTool[];
  readonly tool_choice?: string | GeminiToolChoice;
  readonly response_format?: ChatResponseFormat & { readonly schema?: JsonObject };
  readonly n?: number;
  readonly seed?: number;
  readonly presence_penalty?: number;
  readonly frequency_penalty?: number;
  readonly logprobs?: boolean;
  readonly top_logprobs?: number;
  readonly modalities?: readonly string[];
  readonly audio?: { readonly format: string; readonly voice: string };
  readonly safety_settings?: readonly unknown[];
  readonly safetySettings?: readonly unknown[];
  readonly extra_body?: { readonly google: GoogleExtra };
}

/** A tool; some clients write a function's members beside its type. */
export interface GeminiChatTool extends Omit<ChatFunction, 'arguments' | 'input'> {
  readonly type: string;
  readonly function?: ChatFunction;
}

/** A choice; some clients write the allowed tools beside its type. */
interface GeminiToolChoice extends ChatToolChoice {
  readonly mode?: string;
  readonly tools?: readonly ChatToolChoice[];
}

/** `extra_body.google` of a request (same page). */
interface GoogleExtra {
  readonly safety_settings: readonly unknown[];
  readonly cached_content: string;
  readonly thinking_config: unknown;
}
