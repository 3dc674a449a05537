/** With the gaps to the next letter and the next line. */
export const glyphWidth = 6;
export const glyphHeight = 9;

/** Letters of five by seven points; each row is five bits, one digit of base 32. */
const rows = '0123456789abcdefghijklmnopqrstuv';

const shapes: Readonly<Record<string, string>> = {
  ' ': '0000000',
  A: 'ehhvhhh',
  B: 'uhhuhhu',
  C: 'ehggghe',
  D: 'uhhhhhu',
  E: 'vgguggv',
  F: 'vgguggg',
  G: 'ehgnhhf',
  H: 'hhhvhhh',
  I: 'e44444e',
  J: '72222ic',
  K: 'hikokih',
  L: 'ggggggv',
  M: 'hrllhhh',
  N: 'hhpljhh',
  O: 'ehhhhhe',
  P: 'uhhuggg',
  Q: 'ehhhlid',
  R: 'uhhukih',
  S: 'fgge11u',
  T: 'v444444',
  U: 'hhhhhhe',
  V: 'hhhhha4',
  W: 'hhhllra',
  X: 'hha4ahh',
  Y: 'hhha444',
  Z: 'v1248gv',
  0: 'ehjlphe',
  1: '4c4444e',
  2: 'eh1248v',
  3: 'v2421he',
  4: '26aiv22',
  5: 'vgu11he',
  6: '68guhhe',
  7: 'v124888',
  8: 'ehhehhe',
  9: 'ehhf12c',
  '.': '00000cc',
  ',': '0000c48',
  '!': '4444404',
  '?': 'eh12404',
  '-': '000v000',
  "'": '4480000',
  '"': 'aa00000',
  ':': '0cc0cc0',
  '(': '2488842',
  ')': '8422248',
  '/': '01248g0',
};

/**
 * A text as this font writes it: letters without accents, and a space for each sign that it lacks.
 * Undefined: it lacks a letter or digit of the text, such as a Chinese one, or all of its signs.
 */
export function drawable(text: string): string | undefined {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toUpperCase();
  const known = [...plain].map((sign) => (sign in shapes ? sign : undefined));
  const lacks = [...plain].some((sign, i) => known[i] === undefined && /[\p{L}\p{N}]/u.test(sign));
  const written = known
    .map((sign) => sign ?? ' ')
    .join('')
    .replaceAll(/ +/g, ' ')
    .trim();
  return lacks || written === '' ? undefined : written;
}

/** The points of a letter that `drawable` returned, from its upper left. */
export function drawn(letter: string): readonly (readonly [x: number, y: number])[] {
  return [...(shapes[letter] ?? '')].flatMap((row, y) => {
    const bits = rows.indexOf(row);
    return [0, 1, 2, 3, 4].flatMap((x) => ((bits >> (4 - x)) & 1 ? [[x, y] as const] : []));
  });
}
