import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { machineMicroseconds } from '../process.ts';
import { markdown, type Table } from './table.ts';

/** The result of a section. */
export interface Found {
  readonly tables: readonly Table[];
  readonly words?: string;
}

/** The result of a section's last run. */
interface Kept extends Found {
  /** The day of the run. */
  readonly at: string;
  readonly machine: string;
  /** The share of the machine that other processes used meanwhile. */
  readonly quiet: string;
}

type Results = Readonly<Record<string, Kept>>;

const file = join(import.meta.dirname, 'data/results.json');
const page = join(import.meta.dirname, '../../docs/benchmarks/growth.md');

/** Watches the machine from now on; the returned function stores the result. */
export function beginSection(name: string): (found: Found) => void {
  const before = machineMicroseconds();
  return (found) => {
    const after = machineMicroseconds();
    const [all, busy] = [after.all - before.all, after.busy - before.busy];
    const others = Math.max(0, busy - (after.own - before.own)) / all;
    const percent = (part: number): string => `${(100 * part).toFixed(0)} %`;
    const kept: Kept = {
      at: new Date().toISOString().slice(0, 10),
      machine: `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.versions.node}, ${process.platform}`,
      quiet: `other processes took ${percent(others)} of the machine's time, its host ${percent((after.stolen - before.stolen) / all)}`,
      ...found,
    };
    writeFileSync(file, `${JSON.stringify({ ...results(), [name]: kept }, null, 2)}\n`);
  };
}

const results = (): Results =>
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : {};

export interface Section {
  readonly title: string;
  /** The procedure, and the meaning of the columns. */
  readonly about: string;
}

/** Writes the page from the last run of each section. */
export function writePage(introduction: string, sections: Readonly<Record<string, Section>>): void {
  const kept = results();
  const parts = Object.entries(sections).flatMap(([name, { title, about }]) => {
    const one = kept[name];
    return one === undefined ? [] : [`## ${title}\n\n${about}\n\n${textOf(one)}`];
  });
  writeFileSync(page, `${[introduction, ...parts].join('\n\n')}\n`);
}

function textOf({ at, machine, quiet, tables, words }: Kept): string {
  return [
    ...tables.map(markdown),
    ...(words === undefined || words === '' ? [] : [words]),
    `${at}, ${machine}; ${quiet}.`,
  ].join('\n\n');
}
