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

const unknown = 'vhhhhhv';

/**
 * The points of a letter, from its upper left. Lower-case letters become capitals; unknown ones are
 * a box.
 */
export function drawn(letter: string): readonly (readonly [x: number, y: number])[] {
  const shape = shapes[letter.toUpperCase()] ?? unknown;
  return [...shape].flatMap((row, y) => {
    const bits = rows.indexOf(row);
    return [0, 1, 2, 3, 4].flatMap((x) => ((bits >> (4 - x)) & 1 ? [[x, y] as const] : []));
  });
}
