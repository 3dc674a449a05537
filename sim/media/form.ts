import type { IncomingHttpHeaders } from 'node:http';
import { decodeImage, type ImageFacts } from '../image.ts';
import type { Json } from '../json.ts';

export interface FormFile {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** A `multipart/form-data` body (RFC 7578). */
export interface Form {
  /** The parts in order; a file has an empty value. */
  readonly parts: readonly (readonly [name: string, value: string])[];
  /** The texts by name, the last of a name. */
  readonly fields: Json;
  readonly files: readonly FormFile[];
}

/** Undefined when the body is no form, a truncated one, or has a part without a head or a name. */
export function readForm(
  { 'content-type': contentType = '' }: Pick<IncomingHttpHeaders, 'content-type'>,
  body: Buffer,
): Form | undefined {
  const boundary = /^multipart\/form-data;.*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType);
  const mark = boundary && `--${boundary[1] ?? boundary[2]}`;
  if (!mark || body.lastIndexOf(`${mark}--`) < 0) return undefined;
  const parts: [string, string][] = [];
  const fields: Record<string, string> = {};
  const files: FormFile[] = [];
  for (let at = body.indexOf(mark); ; ) {
    const start = at + mark.length + 2;
    if (body.toString('latin1', start - 2, start) === '--') return { parts, fields, files };
    const next = body.indexOf(`\r\n${mark}`, start);
    const headEnd = body.indexOf('\r\n\r\n', start);
    if (next < 0 || headEnd < 0 || headEnd > next) return undefined;
    const head = body.toString('utf8', start, headEnd);
    const content = body.subarray(headEnd + 4, next);
    const name = /\bname="([^"]*)"/i.exec(head)?.[1];
    if (name === undefined) return undefined;
    const isFile = /\bfilename="/i.test(head);
    const type = /^content-type:\s*(\S+)/im.exec(head)?.[1] ?? 'text/plain';
    const value = isFile ? '' : content.toString('utf8');
    parts.push([name, value]);
    if (isFile) files.push({ name, type, bytes: content });
    else fields[name] = value;
    at = next + 2;
  }
}

/** The image facts of a file, read from its bytes. */
export const factsOf = ({ bytes }: Pick<FormFile, 'bytes'>): ImageFacts | undefined =>
  decodeImage(`data:;base64,${bytes.toString('base64')}`);
