import { datePattern } from './date-pattern.ts';

/** The whole name, not the same letters inside a word or a number. */
const literal = (name: string) =>
  String.raw`(?<![\p{L}\p{N}])${name.replace(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)}(?![\p{L}\p{N}])`;

/** Finds dates and these names in a text, in one group. An empty one is no name. */
export function wholeNames(names: readonly string[]): RegExp {
  const longestFirst = names.filter((name) => name !== '').sort((a, b) => b.length - a.length);
  return new RegExp(`(${[datePattern, ...longestFirst.map(literal)].join('|')})`, 'u');
}
