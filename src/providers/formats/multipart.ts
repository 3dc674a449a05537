import type { VendorRequest, VendorCall } from '../adapter.ts';
import { type InputImage, type TranscriptionRequest, audioContentTypes } from '../media-request.ts';

const quoted = (text: string): string =>
  text.replace(/["\r\n]/g, (c) => ({ '"': '%22', '\r': '%0D' })[c] ?? '%0A');

/**
 * A form with fields and one recording, which is read from its file while it is sent. The boundary
 * is made of the request's own id, which no client knows beforehand.
 */
export function recordingRequest(
  path: string,
  call: VendorCall,
  fields: readonly (readonly [string, string])[],
  { file, filename, type, format }: TranscriptionRequest,
  fileField = 'file',
): VendorRequest {
  const boundary = `tollgate-${call.answerId.replace(/\W/g, '')}`;
  const head = fields.map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"\r\n\r\n${value}\r\n`,
  );
  const contentType = /^audio\/|^video\//.test(type) ? type : audioContentTypes[format];
  const start = `--${boundary}\r\nContent-Disposition: form-data; name="${fileField}"; filename="${quoted(filename)}"\r\nContent-Type: ${contentType}\r\n\r\n`;
  return {
    path,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.from(head.join('') + start),
    rest: [{ file, as: 'bytes' }, Buffer.from(`\r\n--${boundary}--\r\n`)],
  };
}

export type FormField = readonly [
  name: string,
  value: string | number | boolean | InputImage | undefined,
];

const endings = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
} as const;

/**
 * A `multipart/form-data` request of the fields that have a value. `mark` becomes the boundary: an
 * id made for this request, so that no field contains it.
 */
export function formRequest(
  path: string,
  fields: readonly FormField[],
  mark: string,
  headers: VendorRequest['headers'] = {},
): VendorRequest {
  const boundary = `tollgate-${mark}`;
  const pieces: Buffer[] = [];
  for (const [name, value] of fields) {
    if (value === undefined) continue;
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="${name}"`;
    if (typeof value !== 'object') pieces.push(Buffer.from(`${head}\r\n\r\n${value}\r\n`));
    else {
      const { type, bytes } = value;
      pieces.push(
        Buffer.from(
          `${head}; filename="${name}.${endings[type]}"\r\ncontent-type: ${type}\r\n\r\n`,
        ),
        bytes,
        Buffer.from('\r\n'),
      );
    }
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`));
  return {
    path,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}`, ...headers },
    body: Buffer.concat(pieces),
  };
}
