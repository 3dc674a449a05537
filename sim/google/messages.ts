import type { Schema } from './proto.ts';

const schemaOfBoth =
  'type:Type format:string title:string description:string nullable:bool enum:string* maxItems:int64 minItems:int64 properties:Schema{} required:string* minProperties:int64 maxProperties:int64 minLength:int64 maxLength:int64 pattern:string example:Value anyOf:Schema* propertyOrdering:string* default:Value items:Schema minimum:double maximum:double';
const partOfBoth =
  'thought:bool thoughtSignature:bytes data|text:string data|inlineData:Blob data|functionCall:FunctionCall data|functionResponse:FunctionResponse data|fileData:FileData data|executableCode:ExecutableCode data|codeExecutionResult:CodeExecutionResult videoMetadata:VideoMetadata mediaResolution:PartResolution';
const requestOfBoth =
  'model:string contents:Content* systemInstruction:Content tools:Tool* toolConfig:ToolConfig safetySettings:SafetySetting* generationConfig:GenerationConfig cachedContent:string';
const configOfBoth =
  'stopSequences:string* responseMimeType:string responseSchema:Schema responseJsonSchema:Value candidateCount:int32 maxOutputTokens:int32 temperature:float topP:float topK:float seed:int32 presencePenalty:float frequencyPenalty:float responseLogprobs:bool logprobs:int32 responseModalities:Modality* speechConfig:SpeechConfig thinkingConfig:ThinkingConfig imageConfig:ImageConfig mediaResolution:MediaResolution';

const both = {
  Content: 'parts:Part* role:string',
  ExecutableCode: 'id:string language:Language code:string',
  CodeExecutionResult: 'id:string outcome:Outcome output:string',
  VideoMetadata: 'startOffset:string endOffset:string fps:double',
  PartResolution: 'level:MediaResolution numTokens:int32',
  FunctionResponse:
    'id:string name:string response:Struct parts:FunctionResponsePart* willContinue:bool scheduling:Scheduling',
  FunctionDeclaration:
    'name:string description:string behavior:Behavior parameters:Schema parametersJsonSchema:Value response:Schema responseJsonSchema:Value',
  GoogleSearch:
    'timeRangeFilter:Struct searchTypes:Struct excludeDomains:string* blockingConfidence:string',
  ToolConfig:
    'functionCallingConfig:FunctionCallingConfig retrievalConfig:Struct includeServerSideToolInvocations:bool',
  ThinkingConfig: 'includeThoughts:bool thinkingBudget:int32 thinkingLevel:ThinkingLevel',
  SpeechConfig: 'voiceConfig:VoiceConfig multiSpeakerVoiceConfig:Struct languageCode:string',
  VoiceConfig: 'prebuiltVoiceConfig:PrebuiltVoiceConfig replicatedVoiceConfig:Struct',
  PrebuiltVoiceConfig: 'voiceName:string',
};

const enums = {
  Type: 'TYPE_UNSPECIFIED STRING NUMBER INTEGER BOOLEAN ARRAY OBJECT NULL',
  Language: 'LANGUAGE_UNSPECIFIED PYTHON',
  Outcome: 'OUTCOME_UNSPECIFIED OUTCOME_OK OUTCOME_FAILED OUTCOME_DEADLINE_EXCEEDED',
  Scheduling: 'SCHEDULING_UNSPECIFIED SILENT WHEN_IDLE INTERRUPT',
  Behavior: 'UNSPECIFIED BLOCKING NON_BLOCKING',
  Mode: 'MODE_UNSPECIFIED AUTO ANY NONE VALIDATED',
  ThinkingLevel: 'THINKING_LEVEL_UNSPECIFIED LOW MEDIUM HIGH MINIMAL',
  Modality: 'MODALITY_UNSPECIFIED TEXT IMAGE AUDIO VIDEO',
  MediaResolution:
    'MEDIA_RESOLUTION_UNSPECIFIED MEDIA_RESOLUTION_LOW MEDIA_RESOLUTION_MEDIUM MEDIA_RESOLUTION_HIGH MEDIA_RESOLUTION_ULTRA_HIGH',
  HarmCategory:
    'HARM_CATEGORY_UNSPECIFIED HARM_CATEGORY_DEROGATORY HARM_CATEGORY_TOXICITY HARM_CATEGORY_VIOLENCE HARM_CATEGORY_SEXUAL HARM_CATEGORY_MEDICAL HARM_CATEGORY_DANGEROUS HARM_CATEGORY_HARASSMENT HARM_CATEGORY_HATE_SPEECH HARM_CATEGORY_SEXUALLY_EXPLICIT HARM_CATEGORY_DANGEROUS_CONTENT HARM_CATEGORY_CIVIC_INTEGRITY HARM_CATEGORY_JAILBREAK',
  HarmBlockThreshold:
    'HARM_BLOCK_THRESHOLD_UNSPECIFIED BLOCK_LOW_AND_ABOVE BLOCK_MEDIUM_AND_ABOVE BLOCK_ONLY_HIGH BLOCK_NONE OFF',
  ServiceTier: 'UNSPECIFIED STANDARD FLEX PRIORITY',
};

/** ai.google.dev/api/generate-content and /api/caching (v1beta), 2026-08. */
export const geminiMessages: Schema = {
  package: 'google.ai.generativelanguage.v1beta',
  enums,
  messages: {
    ...both,
    GenerateContentRequest: `${requestOfBoth} serviceTier:ServiceTier store:bool`,
    CountTokensRequest: 'contents:Content* generateContentRequest:GenerateContentRequest',
    Part: `${partOfBoth} partMetadata:Struct data|toolCall:ToolCall data|toolResponse:ToolResponse`,
    Schema: schemaOfBoth,
    Blob: 'mimeType:string data:bytes',
    FileData: 'mimeType:string fileUri:string',
    ToolCall: 'id:string toolType:string args:Struct',
    ToolResponse: 'id:string toolType:string response:Struct',
    FunctionCall: 'id:string name:string args:Struct',
    FunctionResponsePart: 'data|inlineData:Blob',
    Tool: 'functionDeclarations:FunctionDeclaration* googleSearchRetrieval:Struct codeExecution:Struct googleSearch:GoogleSearch computerUse:Struct urlContext:Struct fileSearch:Struct mcpServers:Struct* googleMaps:Struct',
    FunctionCallingConfig: 'mode:Mode allowedFunctionNames:string*',
    SafetySetting: 'category:HarmCategory threshold:HarmBlockThreshold',
    GenerationConfig: `${configOfBoth} enableEnhancedCivicAnswers:bool`,
    ImageConfig: 'aspectRatio:string imageSize:string',
  },
};

/**
 * cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/projects.locations.publishers.models/generateContent,
 * 2026-08.
 */
export const vertexMessages: Schema = {
  package: 'google.cloud.aiplatform.v1',
  enums: {
    ...enums,
    HarmCategory: `${enums.HarmCategory} HARM_CATEGORY_IMAGE_HATE HARM_CATEGORY_IMAGE_DANGEROUS_CONTENT HARM_CATEGORY_IMAGE_HARASSMENT HARM_CATEGORY_IMAGE_SEXUALLY_EXPLICIT`,
  },
  messages: {
    ...both,
    GenerateContentRequest: `${requestOfBoth} labels:string{} modelArmorConfig:ModelArmorConfig`,
    CountTokensRequest:
      'model:string contents:Content* instances:Value* systemInstruction:Content tools:Tool* generationConfig:GenerationConfig',
    ModelArmorConfig: 'promptTemplateName:string responseTemplateName:string',
    Part: partOfBoth,
    Schema: `${schemaOfBoth} additionalProperties:Value ref:string defs:Schema{}`,
    Blob: 'mimeType:string data:bytes displayName:string',
    FileData: 'mimeType:string fileUri:string displayName:string',
    FunctionCall: 'id:string name:string args:Struct partialArgs:Struct* willContinue:bool',
    FunctionResponsePart: 'data|inlineData:Blob data|fileData:FileData',
    Tool: 'functionDeclarations:FunctionDeclaration* retrieval:Struct googleSearch:GoogleSearch googleSearchRetrieval:Struct googleMaps:Struct enterpriseWebSearch:Struct parallelAiSearch:Struct codeExecution:Struct urlContext:Struct computerUse:Struct',
    FunctionCallingConfig:
      'mode:Mode allowedFunctionNames:string* streamFunctionCallArguments:bool',
    SafetySetting: 'category:HarmCategory threshold:HarmBlockThreshold method:string',
    GenerationConfig: `${configOfBoth} audioTimestamp:bool routingConfig:Struct enableAffectiveDialog:bool`,
    ImageConfig:
      'aspectRatio:string imageSize:string personGeneration:string prominentPeople:string imageOutputOptions:Struct',
  },
};
