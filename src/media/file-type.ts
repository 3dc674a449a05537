import { contentType } from './content-type.ts';
import type { FileKind } from './files.ts';

/** So many bytes tell what a file is. */
export const headBytes = 1024;

/** A drawing is text, which begins with an element of that name, whatever stands before it. */
const drawing =
  /^(?:\xef\xbb\xbf)?\s*(?:<\?xml\b[^>]*\?>\s*|<!--(?:(?!-->)[^])*-->\s*|<!doctype\s+svg\b[^>]*>\s*)*<svg[\s>]/i;

/** The type of a file that begins with `bytes`, if it is one of that kind. */
export function fileType(bytes: Buffer, kind: FileKind): string | undefined {
  const head = bytes.subarray(0, headBytes);
  const type = drawing.test(head.toString('latin1')) ? 'image/svg+xml' : contentType(head, '');
  if (type === undefined || type.startsWith(`${kind}/`)) return type;
  // Sound alone is packed as films are.
  return kind === 'audio' && (type === 'video/mp4' || type === 'video/webm')
    ? type.replace('video', 'audio')
    : undefined;
}

/** Endings of names, for whoever saves a file. */
const endings: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/avif': 'avif',
  'image/svg+xml': 'svg',
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'audio/ogg': 'ogg',
  'audio/flac': 'flac',
  'audio/aac': 'aac',
  'audio/mp4': 'm4a',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/quicktime': 'mov',
};

export const endingOf = (type: string): string => endings[type] ?? 'bin';
