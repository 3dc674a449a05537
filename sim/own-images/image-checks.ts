import { inflateSync } from 'node:zlib';
import type { FormFile } from '../media/form.ts';

const png = Buffer.from([0x89, 0x50, 0x4e, 0x47]);
const jpeg = Buffer.from([0xff, 0xd8, 0xff]);

const isWebp = (bytes: Buffer): boolean =>
  bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';

/** The error in an image that a client sent; undefined for a good one. */
function wrongImage(bytes: Buffer): string | undefined {
  const known =
    bytes.subarray(0, 4).equals(png) || bytes.subarray(0, 3).equals(jpeg) || isWebp(bytes);
  return known ? undefined : 'is not a PNG, JPEG or WebP image';
}

/** The same for base64 or a data URL; an address is accepted unseen. */
export function wrongReference(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return 'must be a text';
  if (/^https?:\/\//.test(value)) return undefined;
  const [, base64 = value] = /^data:image\/\w+;base64,(.*)$/s.exec(value) ?? [];
  return wrongImage(Buffer.from(base64, 'base64'));
}

export const bareBase64 = (value: unknown): string | undefined =>
  typeof value === 'string' && value.startsWith('data:')
    ? 'must be base64 without a data: prefix'
    : wrongReference(value);

/**
 * The error in a black-and-white mask: its pixels, or its size compared with the image. Reads only
 * one channel of 8 bits without filters.
 */
export function wrongMask(mask: Buffer, image: Buffer): string | undefined {
  const wrong = wrongImage(mask);
  if (wrong !== undefined) return wrong;
  if (!mask.subarray(0, 4).equals(png) || mask[24] !== 8 || mask[25] !== 0)
    return 'must be a black and white image';
  if (image.subarray(0, 4).equals(png) && !mask.subarray(16, 24).equals(image.subarray(16, 24)))
    return 'must be as large as the image';
  const at = mask.indexOf('IDAT');
  const rows = inflateSync(mask.subarray(at + 4, at + 4 + mask.readUInt32BE(at - 4)));
  const width = mask.readUInt32BE(16);
  for (let i = 0; i < rows.length; i++) {
    if (i % (width + 1) !== 0 && rows[i] !== 0 && rows[i] !== 255)
      return 'must be of pure black and pure white';
  }
  return undefined;
}

/** The error in a form's image, or in the mask with it. */
export function wrongFiles(
  files: ReadonlyMap<string, FormFile>,
  known: readonly string[],
): string | undefined {
  const stranger = [...files.keys()].find((name) => !known.includes(name));
  if (stranger !== undefined) return `${stranger} is not a known file`;
  const image = files.get('image');
  const mask = files.get('mask');
  const wrong = image && wrongImage(image.bytes);
  if (wrong !== undefined) return `image ${wrong}`;
  const wrongTo = mask && wrongMask(mask.bytes, image?.bytes ?? Buffer.alloc(0));
  return wrongTo && `mask ${wrongTo}`;
}
