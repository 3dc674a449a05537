import { refuse } from '../../base/refusal.ts';
import type { Part } from './chat-conversation.ts';
import { fetchesAddresses, type GeminiModel } from './gemini-model.ts';

/** Types by the end of a name or address, for what comes without one. */
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
 * Addresses that Gemini reads by itself whatever their end: its own files, and YouTube
 * (ai.google.dev/gemini-api/docs/video-understanding, 2026-06).
 */
const ownFiles = /^https:\/\/generativelanguage\.googleapis\.com\/\S*files\//;
const youtube = /^https:\/\/(?:(?:www|m)\.youtube\.com\/|youtu\.be\/)/;

const fileData = (fileUri: string, mimeType: string | undefined): string =>
  `{"fileData":${JSON.stringify({ fileUri, ...(mimeType === undefined ? {} : { mimeType }) })}}`;

/**
 * One part of a turn as JSON text: bytes go along, an address goes where Gemini reads it itself.
 */
export function geminiPart(part: Part, model: GeminiModel): string {
  if (part.kind === 'text') return `{"text":${JSON.stringify(part.text)}}`;
  const { source } = part;
  const name = part.kind === 'file' ? part.name : undefined;
  if ('base64' in source) {
    // `image/jpg` is no type, and Gemini says so.
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
 * The part for an address that this model reads itself; undefined where it has to be given the
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
