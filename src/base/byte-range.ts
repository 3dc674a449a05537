/** Bytes from `first` to `last`, both included and counted from 0, as in HTTP. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Which of `length` bytes a Range header asks for (RFC 9110 §14): `whole` without one, and where it
 * asks for several ranges, another unit or nonsense, which a server may do as if it were not there;
 * `unsatisfiable` when it asks for nothing that is there. `length` is more than 0.
 */
export function byteRange(
  header: string | undefined,
  length: number,
): ByteRange | 'whole' | 'unsatisfiable' {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header?.trim() ?? '') ?? [];
  if (from === '' && to === '') return 'whole';
  if (from === '')
    return to === '0'.repeat(to.length)
      ? 'unsatisfiable'
      : { first: Math.max(0, length - Number(to)), last: length - 1 };
  const first = Number(from);
  if (to !== '' && Number(to) < first) return 'whole';
  if (first >= length) return 'unsatisfiable';
  return { first, last: to === '' ? length - 1 : Math.min(Number(to), length - 1) };
}
