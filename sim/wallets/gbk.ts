let table: ReadonlyMap<string, readonly [number, number]> | undefined;

/**
 * Encodes a text in GBK. Node.js has only a decoder, so the table comes from decoding every pair of
 * bytes once.
 */
export function gbk(text: string): Buffer {
  table ??= pairs();
  const bytes: number[] = [];
  for (const letter of text) {
    const pair = letter.charCodeAt(0) < 128 ? undefined : table.get(letter);
    if (pair !== undefined) bytes.push(...pair);
    else bytes.push(letter.charCodeAt(0) < 128 ? letter.charCodeAt(0) : 63);
  }
  return Buffer.from(bytes);
}

function pairs(): ReadonlyMap<string, readonly [number, number]> {
  const decoder = new TextDecoder('gbk');
  const found = new Map<string, readonly [number, number]>();
  for (let first = 0x81; first <= 0xfe; first++) {
    for (let second = 0x40; second <= 0xfe; second++) {
      const letter = decoder.decode(Uint8Array.of(first, second));
      if (letter.length === 1 && letter !== '\uFFFD' && !found.has(letter))
        found.set(letter, [first, second]);
    }
  }
  return found;
}
