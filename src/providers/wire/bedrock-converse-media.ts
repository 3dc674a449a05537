import { refuse } from '../../base/refusal.ts';
import {
  type AudioPart,
  type Bytes,
  type FilePart,
  type ImagePart,
  type Part,
  refusePart,
  type VideoPart,
} from './chat-conversation.ts';
import type { JsonObject } from './json.ts';

/**
 * Media types → Converse's formats
 * (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html, 2026-08).
 */
const images: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
};
const documents: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/html': 'html',
  'text/markdown': 'md',
};
const videos: Readonly<Record<string, string>> = {
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/quicktime': 'mov',
  'video/x-matroska': 'mkv',
  'video/mpeg': 'mpeg',
  'video/x-flv': 'flv',
  'video/x-ms-wmv': 'wmv',
  'video/3gpp': 'three_gp',
};
const plainText = /^(text\/|application\/(json|xml|yaml|x-yaml|toml|javascript)$)/;

/** Parts of one request as Converse's blocks; it wants every document to have a name of its own. */
export class MediaWriter {
  readonly #model: string;
  readonly #names = new Set<string>();

  /** `model`: as the client calls it, for refusals. */
  constructor(model: string) {
    this.#model = model;
  }

  block(part: Part): JsonObject {
    if (part.kind === 'text') return { text: part.text };
    if (part.kind === 'image') return imageBlock(part, bytesOf(part));
    if (part.kind === 'file') return this.#fileBlock(part, bytesOf(part));
    return part.kind === 'video' ? this.#videoBlock(part, bytesOf(part)) : this.#audioBlock(part);
  }

  #fileBlock(part: FilePart, { mime, base64 }: Bytes): JsonObject {
    if (mime in images) return imageBlock(part, { mime, base64 });
    const format = documents[mime] ?? (plainText.test(mime) ? 'txt' : undefined);
    if (format === undefined)
      refuse('invalid_value', {
        param: part.param,
        why: `'${mime}' is no document that this model reads.`,
      });
    return {
      document: { format, name: this.#name(part.name ?? 'document'), source: { bytes: base64 } },
    };
  }

  #audioBlock(part: AudioPart): JsonObject {
    const { mime, base64 } = part.source;
    if (!/^audio\/[a-z0-9-]+$/.test(mime))
      refusePart(part, this.#model, 'text, images, files, videos and audio');
    return { audio: { format: mime.slice('audio/'.length), source: { bytes: base64 } } };
  }

  #videoBlock(part: VideoPart, { mime, base64 }: Bytes): JsonObject {
    const format = videos[mime];
    if (format === undefined)
      refuse('invalid_value', {
        param: part.param,
        why: `'${mime}' is not one of ${Object.keys(videos).join(', ')}.`,
      });
    return { video: { format, source: { bytes: base64 } } };
  }

  /**
   * Letters, digits, single spaces, hyphens, parentheses and brackets, 200 at most: without the
   * ending, whose dot is refused.
   */
  #name(name: string): string {
    const plain = name
      .replace(/\.[a-z0-9]{1,5}$/i, '')
      .normalize('NFKD')
      .replace(/\p{M}+/gu, '')
      .replace(/[^A-Za-z0-9\s()[\]-]+/g, ' ')
      .replace(/\s+/g, ' ')
      .trim();
    const base = plain.slice(0, 190) || 'document';
    let unique = base;
    for (let n = 2; this.#names.has(unique); n++) unique = `${base} (${n})`;
    this.#names.add(unique);
    return unique;
  }
}

function imageBlock({ param }: Part, { mime, base64 }: Bytes): JsonObject {
  const format = images[mime];
  if (format === undefined)
    refuse('invalid_value', {
      param,
      why: `'${mime}' is not one of image/png, image/jpeg, image/gif, image/webp.`,
    });
  return { image: { format, source: { bytes: base64 } } };
}

function bytesOf({ source, param, kind }: ImagePart | FilePart | VideoPart): Bytes {
  if ('url' in source)
    return refuse('invalid_value', {
      param,
      why: `this model takes the ${kind} itself, as 'data:…;base64,…', not its address.`,
    });
  return source;
}
