import type { IncomingHttpHeaders } from 'node:http';
import { decodeImage, type ImageFacts } from '../image.ts';
import type { Json } from '../json.ts';

export interface FormFile {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** A `multipart/form-data` body (RFC 7578): its texts by name, and its files. */
export interface Form {
  readonly fields: Json;
  readonly files: readonly FormFile[];
}

/** Undefined when the body is no form, or a truncated one. */
export function readForm(headers: IncomingHttpHeaders, body: Buffer): Form | undefined {
  const boundary = /^multipart\/form-data;.*boundary="?([^";]+)"?/i.exec(
    headers['content-type'] ?? '',
  )?.[1];
  if (boundary === undefined || body.lastIndexOf(`--${boundary}--`) < 0) return undefined;
  const fields: Record<string, unknown> = {};
  const files: FormFile[] = [];
  for (const part of partsOf(body, `--${boundary}`)) {
    const at = part.indexOf('\r\n\r\n');
    const head = part.toString('utf8', 0, at);
    const content = part.subarray(at + 4, part.length - 2);
    const name = /\bname="([^"]*)"/i.exec(head)?.[1];
    if (at < 0 || name === undefined) return undefined;
    const type = /^content-type:\s*(\S+)/im.exec(head)?.[1] ?? 'text/plain';
    if (/\bfilename="/i.test(head)) files.push({ name, type, bytes: Buffer.from(content) });
    else fields[name] = content.toString('utf8');
  }
  return { fields, files };
}

function* partsOf(body: Buffer, mark: string): Generator<Buffer> {
  for (let at = body.indexOf(mark); at >= 0; ) {
    const next = body.indexOf(mark, at + mark.length);
    if (next < 0) return;
    yield body.subarray(at + mark.length + 2, next);
    at = next;
  }
}

/** The image facts of a file, read from its bytes. */
export const factsOf = ({ bytes }: Pick<FormFile, 'bytes'>): ImageFacts | undefined =>
  decodeImage(`data:;base64,${bytes.toString('base64')}`);
