import { isUtf8 } from 'node:buffer';
import type { FileKind } from './files.ts';

/** The kinds of media in a conversation. */
export type MediumKind = 'image' | 'file' | 'video';

/** File signatures: bytes at an offset, and the type that they show. */
const marks: readonly (readonly [at: number, bytes: string, type: string])[] = [
  [0, '\x89PNG\r\n\x1a\n', 'image/png'],
  [0, '\xff\xd8\xff', 'image/jpeg'],
  [0, 'GIF87a', 'image/gif'],
  [0, 'GIF89a', 'image/gif'],
  [8, 'WEBP', 'image/webp'],
  [0, 'BM', 'image/bmp'],
  [0, 'II*\0', 'image/tiff'],
  [0, 'MM\0*', 'image/tiff'],
  [4, 'ftypheic', 'image/heic'],
  [4, 'ftypheix', 'image/heic'],
  [4, 'ftypmif1', 'image/heif'],
  [4, 'ftypavif', 'image/avif'],
  [0, '%PDF-', 'application/pdf'],
  [8, 'WAVE', 'audio/wav'],
  [0, 'ID3', 'audio/mpeg'],
  [0, '\xff\xfb', 'audio/mpeg'],
  [0, '\xff\xf3', 'audio/mpeg'],
  [0, '\xff\xf2', 'audio/mpeg'],
  [0, '\xff\xf1', 'audio/aac'],
  [0, '\xff\xf9', 'audio/aac'],
  [0, 'OggS', 'audio/ogg'],
  [0, 'fLaC', 'audio/flac'],
  [4, 'ftypM4A', 'audio/mp4'],
  [4, 'ftypqt  ', 'video/quicktime'],
  [4, 'ftyp3g', 'video/3gpp'],
  [4, 'ftyp', 'video/mp4'],
  [0, 'FLV\x01', 'video/x-flv'],
  [0, '\0\0\x01\xba', 'video/mpeg'],
];

const office = 'application/vnd.openxmlformats-officedocument';
/** Members of a zip file that show its type. */
const zipped: readonly (readonly [member: string, type: string])[] = [
  ['word/document.xml', `${office}.wordprocessingml.document`],
  ['xl/workbook.xml', `${office}.spreadsheetml.sheet`],
  ['ppt/presentation.xml', `${office}.presentationml.presentation`],
];

/**
 * Text types by the extension in the address: their bytes look alike, and a wrong type does no
 * harm.
 */
const texts: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  md: 'text/markdown',
  json: 'application/json',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
};

/** The first bytes of a file that show its type. */
export const headBytes = 1024;

/**
 * The type of `bytes` by their content; undefined when it is unknown. The `path` of the address
 * distinguishes texts and old office files.
 */
export function contentType(bytes: Buffer, path: string): string | undefined {
  const head = bytes.toString('latin1', 0, headBytes);
  const mark = marks.find(([at, begin]) => head.startsWith(begin, at));
  if (mark !== undefined) return mark[2];
  const extension = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  if (head.startsWith('\x1aE\xdf\xa3'))
    return head.includes('webm') ? 'video/webm' : 'video/x-matroska';
  if (head.startsWith('PK\x03\x04')) return zipped.find(([member]) => bytes.includes(member))?.[1];
  if (head.startsWith('\xd0\xcf\x11\xe0'))
    return extension === 'xls' ? 'application/vnd.ms-excel' : 'application/msword';
  if (bytes.length === 0 || bytes.includes(0) || !isUtf8(bytes)) return undefined;
  if (/^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html|head|body)\b/i.test(head)) return 'text/html';
  return texts[extension] ?? 'text/plain';
}

const wanted: Readonly<Record<MediumKind, RegExp>> = {
  image: /^image\//,
  video: /^video\//,
  file: /./,
};

/** Why bytes of this type are not of the requested kind; undefined when they are. */
export function typeMismatch(kind: MediumKind, type: string | undefined): string | undefined {
  if (type === undefined) return `what it gives is no ${kind} that we know`;
  if (wanted[kind].test(type)) return undefined;
  return `what it gives is ${type === 'text/html' ? 'a web page' : type}, no ${kind}`;
}

/** An SVG is text whose first element is `svg`, after a declaration, comments or a doctype. */
const drawing =
  /^(?:\xef\xbb\xbf)?\s*(?:<\?xml\b[^>]*\?>\s*|<!--(?:(?!-->)[^])*-->\s*|<!doctype\s+svg\b[^>]*>\s*)*<svg[\s>]/i;

/** The type of a file that begins with `bytes`, if it is one of that kind. */
export function fileType(bytes: Buffer, kind: FileKind): string | undefined {
  const head = bytes.subarray(0, headBytes);
  const type = drawing.test(head.toString('latin1')) ? 'image/svg+xml' : contentType(head, '');
  if (type === undefined || type.startsWith(`${kind}/`)) return type;
  // Audio files use the containers of video.
  return kind === 'audio' && (type === 'video/mp4' || type === 'video/webm')
    ? type.replace('video', 'audio')
    : undefined;
}

/** Extensions for clients that save a file. */
const extensions: Readonly<Record<string, string>> = {
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

export const extensionOf = (type: string): string => extensions[type] ?? 'bin';
