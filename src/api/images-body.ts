import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { refuse } from '../base/refusal.ts';
import { readBody } from '../http/body.ts';
import { type Form, type FormFile, type FormLimits, isForm, readForm } from '../http/multipart.ts';
import { type Spools, Spools as OpenSpools, spoolLimits } from '../http/spool.ts';
import { type Body, parseJson } from './check.ts';

const mebibyte = 1024 * 1024;

/** wire-formats §7 rows 33 and 56. */
export const imagesMax = 16;
const formLimits: FormLimits = {
  fields: 64,
  fieldBytes: mebibyte,
  files: imagesMax + 1,
  fileBytes: 50 * mebibyte,
  bodyBytes: 100 * mebibyte,
};
const jsonBytesMax = 50 * mebibyte;

/**
 * Pictures that are being edited are held as a whole, as their vendors want them; all requests
 * together hold no more than this.
 */
export const imageSpools = (): Spools =>
  new OpenSpools({
    ...spoolLimits,
    memoryBytesMax: formLimits.fileBytes,
    bytesMax: 1024 * mebibyte,
  });

/** What an endpoint that takes pictures was sent. */
export interface ImagesBody {
  readonly body: Body;
  /** Empty when it was a form. */
  readonly bytes: Buffer;
  readonly files: readonly FormFile[];
  /** Of everything that was sent, however it was cut and packed. */
  readonly digest: string;
  readonly discard: () => void;
}

/** A body of either kind, read to its end. Throws the Refusal of what cannot be read. */
export async function readImagesBody(
  stream: unknown,
  headers: IncomingHttpHeaders,
  spools: Spools,
): Promise<ImagesBody | 'left'> {
  if (isForm(headers)) {
    const form = await readForm(stream, headers, formLimits, spools);
    return form === 'left' ? form : fromForm(form);
  }
  const sent = await readBody(stream, headers, jsonBytesMax);
  if (sent === 'left') return sent;
  const type = headers['content-type'] ?? '';
  if (!/json/i.test(type))
    refuse('wrong_content_type', {
      got: type.split(';', 1)[0] || 'none',
      expected: 'multipart/form-data or application/json',
    });
  return {
    ...parseJson(sent, type),
    files: [],
    digest: createHash('sha256').update(sent).digest('hex'),
    discard: () => {},
  };
}

async function fromForm(form: Form): Promise<ImagesBody> {
  const hash = createHash('sha256');
  for (const [name, value] of form.fields) hash.update(`${JSON.stringify([name, value])}\n`);
  for (const { field, content } of form.files) {
    hash.update(`${JSON.stringify([field, content.size])}\n`);
    for await (const piece of content.read()) hash.update(piece);
  }
  const body = Object.fromEntries(form.fields.map(([name, value]) => [name, valueOf(name, value)]));
  return {
    body,
    bytes: Buffer.alloc(0),
    files: form.files,
    digest: hash.digest('hex'),
    discard: () => form.discard(),
  };
}

const numbers = new Set(['n', 'output_compression', 'partial_images']);
const flags: Readonly<Record<string, boolean>> = { true: true, false: false };

/**
 * Forms carry text alone. What is no number where one should be stays text, and is refused as such.
 */
function valueOf(name: string, value: string): unknown {
  if (numbers.has(name) && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(value.trim())) return Number(value);
  return name === 'stream' ? (flags[value.trim().toLowerCase()] ?? value) : value;
}
