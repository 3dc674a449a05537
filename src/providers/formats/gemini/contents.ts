import {
  type Documented,
  isObject,
  listOf,
  objectOf,
  objectsOf,
  parse,
  textOf,
} from '../../../base/json.ts';
import { refuse } from '../../../base/refusal.ts';
import type {
  Conversation,
  ToolCall,
  ToolResult,
  ConversationTurn,
  ContentPart,
} from '../../conversation/conversation.ts';
import { unsignedCalls } from '../../conversation/call-signatures.ts';
import { type GeminiModel, isThird, lacksSystem, fetchesAddresses } from './models.ts';
import type { ChatMessage, ChatReasoningDetail, ChatToolCall } from '../openai-chat/types.ts';
import type { GoogleCallContent } from './types.ts';

/**
 * `contents` and `systemInstruction.parts`, as JSON text: arguments and results keep the client's
 * own spelling of every number.
 */
export interface Contents {
  readonly contents: string;
  readonly system: string;
}

/** Stands for a turn that the format requires and that has no content. */
const silence = '{"text":" "}';

/**
 * The signature that Google's page gives for calls of another model
 * (ai.google.dev/gemini-api/docs/thought-signatures, 2026-11).
 */
export const skipsValidation = 'skip_thought_signature_validator';

/**
 * Writes the conversation in Gemini's format (ai.google.dev/api/generate-content, 2026-08). Throws
 * the Refusal of content that this model cannot take.
 */
export function geminiContents({ system, turns }: Conversation, model: GeminiModel): Contents {
  const instructions = system.map((part) => geminiPart(part, model));
  const written = turns.map((turn) => ({
    role: turn.role,
    parts: turn.role === 'user' ? userParts(turn, model) : modelParts(turn, model),
  }));
  // The first turn must be the user's.
  const opening = written[0]?.role === 'user' ? written.shift() : undefined;
  const first = [
    ...(lacksSystem(model) || turns.length === 0 ? instructions.splice(0) : []),
    ...(opening?.parts ?? []),
  ];
  const contents = [{ role: 'user', parts: first.length > 0 ? first : [silence] }, ...written].map(
    ({ role, parts }) =>
      `{"role":"${role === 'user' ? 'user' : 'model'}","parts":[${parts.join(',')}]}`,
  );
  return { contents: contents.join(','), system: instructions.join(',') };
}

/** The keys of calls that came back without their signatures, for models that require them. */
export const unsignedContents = (messages: unknown, model: GeminiModel): readonly string[] =>
  isThird(model) ? unsignedCalls(messages, isSigned) : [];

/** Whether a message carries Gemini's thinking, which comes back as its signature. */
export const isSigned = (message: Documented<ChatMessage>): boolean =>
  listOf(message.tool_calls).some((call) => signatureOf(objectOf(call)) !== undefined) ||
  objectsOf(message.reasoning_details).some(isGeminis);

/**
 * The signature where Google's own compatible endpoint puts it
 * (ai.google.dev/gemini-api/docs/thought-signatures#openai, 2026-08).
 */
function signatureOf(call: Documented<ChatToolCall> | undefined): string | undefined {
  const content: Documented<GoogleCallContent> | undefined = objectOf(call?.extra_content);
  return textOf(objectOf(content?.google)?.thought_signature);
}

function userParts({ results, parts }: ConversationTurn, model: GeminiModel): string[] {
  // All results of a step stand together.
  return [
    ...results.map((result) => resultPart(result, model)),
    ...parts.map((part) => geminiPart(part, model)),
  ];
}

function modelParts({ parts, calls, messages }: ConversationTurn, model: GeminiModel): string[] {
  const details = messages
    .flatMap((message) => objectsOf(message.reasoning_details))
    .filter(isGeminis);
  const texts = parts.map((part) => geminiPart(part, model));
  const signature = textOf(details.findLast((detail) => detail.id === undefined)?.data);
  const last = texts.at(-1);
  // The text comes back with its signature.
  if (signature !== undefined && last !== undefined)
    texts[texts.length - 1] =
      `${last.slice(0, -1)},"thoughtSignature":${JSON.stringify(signature)}}`;
  return [...texts, ...calls.map((call, i) => callPart(call, details, i === 0 && isThird(model)))];
}

const isGeminis = ({ type, format }: Documented<ChatReasoningDetail>): boolean =>
  type === 'reasoning.encrypted' && format === 'google-gemini-v1';

/**
 * `mustBeSigned`: this is the first call of a step, and the model refuses a call of its own without
 * a signature.
 */
function callPart(
  { id, name, input, source }: ToolCall,
  details: readonly Documented<ChatReasoningDetail>[],
  mustBeSigned: boolean,
): string {
  const own = signatureOf(source);
  const signature =
    own ??
    textOf(details.findLast((detail) => detail.id === id)?.data) ??
    (mustBeSigned ? skipsValidation : undefined);
  const args = objectText(objectOf(source.function)?.arguments) ?? JSON.stringify(input);
  const signed = signature === undefined ? '' : `,"thoughtSignature":${JSON.stringify(signature)}`;
  return `{"functionCall":{${idMember(id)}"name":${JSON.stringify(name)},"args":${args}}${signed}}`;
}

const idMember = (id: string): string => (id === '' ? '' : `"id":${JSON.stringify(id)},`);

/** The result, with the media in it that a model of the third generation takes there. */
function resultPart({ id, name, parts, isError, param }: ToolResult, model: GeminiModel): string {
  if (name === undefined)
    refuse('invalid_value', {
      param: `${param}.tool_call_id`,
      why: `no message before it calls a tool with the id '${id}'.`,
    });
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  const text = texts.join(texts.length < parts.length ? '\n\n' : '');
  const object = objectText(text);
  const response = isError
    ? `{"error":${object ?? JSON.stringify(text)}}`
    : (object ?? JSON.stringify({ output: text }));
  const media = parts.filter((part) => part.kind !== 'text').map((part) => geminiPart(part, model));
  const more = media.length > 0 ? `,"parts":[${media.join(',')}]` : '';
  return `{"functionResponse":{${idMember(id)}"name":${JSON.stringify(name)},"response":${response}${more}}}`;
}

/** The text itself if it is a JSON object; else undefined. */
const objectText = (text: unknown): string | undefined =>
  typeof text === 'string' && isObject(parse(text)) ? text : undefined;

/** Media types by the ending of a name or address, for files without a type. */
const types: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  heic: 'image/heic',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  mp4: 'video/mp4',
  webm: 'video/webm',
  mov: 'video/quicktime',
};

const fallbacks = {
  image: 'image/jpeg',
  audio: 'audio/wav',
  file: 'application/pdf',
  video: 'video/mp4',
} as const;

const typeOf = (name: string | undefined): string | undefined =>
  types[/\.([a-z0-9]+)(?:[?#].*)?$/i.exec(name ?? '')?.[1]?.toLowerCase() ?? ''];

/**
 * Addresses that Gemini reads itself whatever their ending: its own files, and YouTube
 * (ai.google.dev/gemini-api/docs/video-understanding, 2026-06).
 */
const ownFiles = /^https:\/\/generativelanguage\.googleapis\.com\/\S*files\//;
const youtube = /^https:\/\/(?:(?:www|m)\.youtube\.com\/|youtu\.be\/)/;

const fileData = (fileUri: string, mimeType: string | undefined): string =>
  `{"fileData":${JSON.stringify({ fileUri, ...(mimeType === undefined ? {} : { mimeType }) })}}`;

/**
 * One part of a turn as JSON text: bytes are sent inside, an address is sent if Gemini reads it
 * itself.
 */
function geminiPart(part: ContentPart, model: GeminiModel): string {
  if (part.kind === 'text') return `{"text":${JSON.stringify(part.text)}}`;
  const { source } = part;
  const name = part.kind === 'file' ? part.name : undefined;
  if ('base64' in source) {
    // Gemini refuses `image/jpg`, which is no registered type.
    const mimeType =
      source.mime === 'image/jpg'
        ? 'image/jpeg'
        : source.mime || typeOf(name) || fallbacks[part.kind];
    return `{"inlineData":{"mimeType":${JSON.stringify(mimeType)},"data":${JSON.stringify(source.base64)}}}`;
  }
  const read = addressPart(source.url, name, model);
  if (read !== undefined) return read;
  return refuse('invalid_value', {
    param: part.param,
    why: 'this model cannot read that address itself. Send the content as a data URL (data:…;base64,…).',
  });
}

/**
 * The part for an address that this model reads itself; undefined if the request must carry the
 * bytes. `name`: the file's.
 */
export function addressPart(
  url: string,
  name: string | undefined,
  model: GeminiModel,
): string | undefined {
  if (youtube.test(url)) return fileData(url, 'video/mp4');
  const mimeType = typeOf(url) ?? typeOf(name);
  if (ownFiles.test(url)) return fileData(url, mimeType);
  return /^https:/i.test(url) && mimeType !== undefined && fetchesAddresses(model)
    ? fileData(url, mimeType)
    : undefined;
}
