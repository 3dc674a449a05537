import type { Ask, Call } from '../adapter.ts';
import { type ListenWish, soundTypes } from '../sound-wish.ts';

const quoted = (text: string): string =>
  text.replace(/["\r\n]/g, (c) => ({ '"': '%22', '\r': '%0D' })[c] ?? '%0A');

/**
 * A form with fields and one recording, which is read while it is sent. The request's own id keeps
 * its parts apart: nobody outside knows it beforehand.
 */
export function formWith(
  path: string,
  call: Call,
  fields: readonly (readonly [string, string])[],
  { file, filename, type, format }: ListenWish,
  fileField = 'file',
): Ask {
  const boundary = `tollgate-${call.answerId.replace(/\W/g, '')}`;
  const head = fields.map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"\r\n\r\n${value}\r\n`,
  );
  const contentType = /^audio\/|^video\//.test(type) ? type : soundTypes[format];
  const start = `--${boundary}\r\nContent-Disposition: form-data; name="${fileField}"; filename="${quoted(filename)}"\r\nContent-Type: ${contentType}\r\n\r\n`;
  return {
    path,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.from(head.join('') + start),
    rest: [{ file, as: 'bytes' }, Buffer.from(`\r\n--${boundary}--\r\n`)],
  };
}
