import type { JsonObject } from '../../../base/json.ts';

/** A request of a client of `generateContent` (ai.google.dev/api/generate-content, 2026-11). */
export interface GenerateContentRequest {
  readonly model: string;
  readonly contents: readonly RequestContent[];
  readonly systemInstruction: RequestContent;
  readonly tools: readonly RequestTool[];
  readonly toolConfig: RequestToolConfig;
  readonly generationConfig: GenerationConfig;
  readonly cachedContent: string;
  readonly serviceTier: string;
  readonly store: boolean;
}

/** A turn of a conversation (ai.google.dev/api/caching#Content, 2026-11). */
export interface RequestContent {
  readonly role: string;
  readonly parts: readonly RequestPart[];
}

/** A part of a turn (ai.google.dev/api/caching#Part, 2026-11). */
export interface RequestPart {
  readonly text: string;
  readonly thought: boolean;
  readonly thoughtSignature: string;
  readonly inlineData: { readonly mimeType: string; readonly data: string };
  readonly fileData: { readonly mimeType: string; readonly fileUri: string };
  readonly functionCall: { readonly id: string; readonly name: string; readonly args: JsonObject };
  readonly functionResponse: {
    readonly id: string;
    readonly name: string;
    readonly response: JsonObject;
    readonly parts: readonly RequestPart[];
  };
  readonly executableCode: JsonObject;
  readonly codeExecutionResult: JsonObject;
}

/**
 * A list of functions, or a tool that the vendor runs (ai.google.dev/api/caching#Tool, 2026-11).
 */
export interface RequestTool {
  readonly functionDeclarations: readonly FunctionDeclaration[];
}

/** ai.google.dev/api/caching#FunctionDeclaration, 2026-11. */
export interface FunctionDeclaration {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly parametersJsonSchema: unknown;
  readonly behavior: string;
}

/** ai.google.dev/api/caching#ToolConfig, 2026-11. */
export interface RequestToolConfig {
  readonly functionCallingConfig: {
    readonly mode: string;
    readonly allowedFunctionNames: readonly string[];
  };
}

/** ai.google.dev/api/generate-content#v1beta.GenerationConfig, 2026-11. */
export interface GenerationConfig {
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
  readonly candidateCount: number;
  readonly maxOutputTokens: number;
  readonly stopSequences: readonly string[];
  readonly seed: number;
  readonly presencePenalty: number;
  readonly frequencyPenalty: number;
  readonly responseLogprobs: boolean;
  readonly logprobs: number;
  readonly responseMimeType: string;
  readonly responseSchema: JsonObject;
  readonly responseJsonSchema: unknown;
  readonly responseModalities: readonly string[];
  readonly thinkingConfig: {
    readonly includeThoughts: boolean;
    readonly thinkingBudget: number;
    readonly thinkingLevel: string;
  };
}

/** A request for one vector (ai.google.dev/api/embeddings, 2026-11). */
export interface EmbedContentRequest {
  readonly content: RequestContent;
  readonly taskType: string;
  readonly title: string;
  readonly outputDimensionality: number;
}
