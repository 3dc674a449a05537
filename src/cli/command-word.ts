import { basename, delimiter, dirname, join, relative } from 'node:path';
import type { Env } from '../base/env.ts';

/** How this process was started. */
interface Started {
  readonly env: Env;
  /** The file that Node runs, as it was named: a link in a folder of programs stays one. */
  readonly script: string | undefined;
  readonly folder: string;
  /** Node's own program. */
  readonly node: string;
}

/** Text as one word of a shell. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * What starts this program again from the same folder: `tollgate` only where a shell finds it. In a
 * checkout that is `node bin/tollgate.js`.
 */
export function commandWord({ env, script, folder, node }: Started): string {
  if (script === undefined) return 'tollgate';
  const place = dirname(script);
  const places = (env['PATH'] ?? '').split(delimiter);
  if (basename(script) === 'tollgate') {
    if (place === join(folder, 'node_modules', '.bin')) return 'npx tollgate';
    // npx puts its own folder in front, which is not in the path of other terminals.
    const lasts = basename(place) !== '.bin' && places.includes(place);
    return lasts ? 'tollgate' : shellWord(script);
  }
  const below = relative(folder, script);
  const file = shellWord(below.startsWith('..') ? script : below);
  if (script.endsWith('.ts')) return `npx tsx ${file}`;
  return `${places.includes(dirname(node)) ? 'node' : shellWord(node)} ${file}`;
}

/** What starts this program again. */
export const thisCommand = (): string =>
  commandWord({
    env: process.env,
    script: process.argv[1],
    folder: process.cwd(),
    node: process.execPath,
  });

/** Lines for a shell that are written for `tollgate`, with the word that works here. */
export const asTyped = (line: string, word = thisCommand()): string =>
  line.replaceAll(/(?<![\w./-])tollgate(?= [a-z])/g, () => word);

/** The options that lead a command in another terminal to the same data. */
export function sameData(data: string | undefined, env: Env): string {
  const folder = data ?? (env['TOLLGATE_DATA'] || undefined);
  return folder === undefined ? '' : ` --data ${shellWord(folder)}`;
}
