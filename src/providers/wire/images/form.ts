import type { Ask } from '../../adapter.ts';
import type { GivenImage } from '../../image-wish.ts';

export type Field = readonly [
  name: string,
  value: string | number | boolean | GivenImage | undefined,
];

const endings = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
} as const;

/**
 * `multipart/form-data` of the fields that have a value. `mark` is what no field can contain: an id
 * that was made up for this request.
 */
export function formAsk(
  path: string,
  fields: readonly Field[],
  mark: string,
  headers: Ask['headers'] = {},
): Ask {
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
