/**
 * The shortest plain text that a regular expression of the kind found in JSON schemas accepts:
 * literals, classes, `\d \w \s`, groups, alternatives (the first), quantifiers (the minimum, but
 * one for `*`), anchors. Undefined for look-arounds and back-references.
 */
export function textFor(pattern: string): string | undefined {
  const reader = { source: pattern, at: 0 };
  try {
    const made = alternatives(reader);
    return reader.at === pattern.length && new RegExp(pattern, 'u').test(made) ? made : undefined;
  } catch {
    return undefined;
  }
}

interface Reader {
  readonly source: string;
  at: number;
}

function alternatives(reader: Reader): string {
  const first = sequence(reader);
  while (reader.source[reader.at] === '|') {
    reader.at++;
    sequence(reader);
  }
  return first;
}

function sequence(reader: Reader): string {
  let made = '';
  while (reader.at < reader.source.length && !'|)'.includes(reader.source[reader.at] ?? '')) {
    const unit = atom(reader);
    made += unit.repeat(times(reader));
  }
  return made;
}

function atom(reader: Reader): string {
  const char = reader.source[reader.at++] ?? '';
  if (char === '^' || char === '$') return '';
  if (char === '.') return 'a';
  if (char === '\\') return escaped(reader.source[reader.at++] ?? '');
  if (char === '[') return oneOf(reader);
  if (char === '(') return group(reader);
  return char;
}

function group(reader: Reader): string {
  const opening = /^\?(:|<\w+>)/.exec(reader.source.slice(reader.at));
  if (opening !== null) reader.at += opening[0].length;
  else if (reader.source[reader.at] === '?') throw new Error('a look-around');
  const made = alternatives(reader);
  reader.at++;
  return made;
}

const examples: Readonly<Record<string, string>> = {
  d: '1',
  w: 'a',
  s: ' ',
  D: 'a',
  W: ' ',
  S: 'a',
  b: '',
  t: '\t',
  n: '\n',
};

function escaped(char: string): string {
  return examples[char] ?? char;
}

/** The first member of a class; for a negated one, the first plain character that it accepts. */
function oneOf(reader: Reader): string {
  const end = /^\^?\]?(?:[^\]\\]|\\.)*\]/.exec(reader.source.slice(reader.at));
  if (end === null) throw new Error('a class without end');
  const set = end[0];
  reader.at += set.length;
  if (set.startsWith('^'))
    return Array.from('a1 -_A.').find((char) => new RegExp(`[${set}`, 'u').test(char)) ?? '';
  return set.startsWith('\\') ? escaped(set[1] ?? '') : (set[0] ?? '');
}

function times(reader: Reader): number {
  const quantifier = /^(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/.exec(reader.source.slice(reader.at));
  if (quantifier === null) return 1;
  reader.at += quantifier[0].length;
  if (quantifier[1] !== undefined) return Number(quantifier[1]);
  return quantifier[0].startsWith('?') ? 0 : 1;
}
