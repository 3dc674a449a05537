import { FileData, type Value } from '../../samples/written.ts';
import type { Body } from '../../samples/chat.ts';
import { type SentFile, base64Of } from './turns.ts';

/** A body for printing: the user's files are read from the disk, by their names. */
export function printable(body: object, files: readonly SentFile[]): Body {
  const sent = files.filter(({ url }) => url.startsWith('data:'));
  const named = new Map(
    sent.flatMap((file) => [
      [file.url, fileOf(file)] as const,
      [base64Of(file.url), new FileData(file.name, file.type, 'base64')] as const,
    ]),
  );
  return JSON.parse(JSON.stringify(body), (_, value: Value) =>
    typeof value === 'string' ? (named.get(value) ?? value) : value,
  ) as Body; // parsing: JSON of this code
}

export const fileOf = ({ name, type }: SentFile): FileData => new FileData(name, type);
