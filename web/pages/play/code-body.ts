import { FileData, type Value } from '../../samples/written.ts';
import type { Body } from '../../samples/chat.ts';
import type { Picture } from './turns.ts';

/** A body for printing: the user's images become files with their names. */
export function printable(body: object, pictures: readonly Picture[]): Body {
  const named = new Map(
    pictures
      .filter(({ url }) => url.startsWith('data:'))
      .map((picture) => [picture.url, fileOf(picture)]),
  );
  return JSON.parse(JSON.stringify(body), (_, value: Value) =>
    typeof value === 'string' ? (named.get(value) ?? value) : value,
  ) as Body; // parsing: JSON of this code
}

export const fileOf = ({ name, type }: Picture): FileData => new FileData(name, type);
