/** Bytes from `first` to `last`, both included and counted from 0, as in HTTP. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * The range of `length` bytes that a Range header requests (RFC 9110 §14). `whole`: there is no
 * header, or it has several ranges, another unit or nonsense, which a server may ignore.
 * `unsatisfiable`: no byte lies in the range. `length` is more than 0.
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
