import { FileData, type Value } from '../../samples/written.ts';
import type { Body } from '../../samples/chat.ts';
import type { ImageFile } from './turns.ts';

/** A body for printing: the user's images become files with their names. */
export function printable(body: object, images: readonly ImageFile[]): Body {
  const named = new Map(
    images.filter(({ url }) => url.startsWith('data:')).map((image) => [image.url, fileOf(image)]),
  );
  return JSON.parse(JSON.stringify(body), (_, value: Value) =>
    typeof value === 'string' ? (named.get(value) ?? value) : value,
  ) as Body; // parsing: JSON of this code
}

export const fileOf = ({ name, type }: ImageFile): FileData => new FileData(name, type);
