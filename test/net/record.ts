import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Build } from './build.ts';
import type { Records } from './client.ts';
import { recordCommands } from './commands.ts';
import { recordConsole } from './console.ts';
import { recordDataFolder } from './data-folder.ts';
import { recordEveryVendor } from './every-vendor.ts';
import { recordExchanges } from './exchanges.ts';
import { digest, type Recording } from './recordings.ts';
import { recordRefusals } from './refusals.ts';
import { recordStories } from './stories.ts';
import { recordSurfaces } from './surfaces.ts';

/** The parts of a recording. Each starts without data. */
export const parts = {
  exchanges: recordExchanges,
  vendors: recordEveryVendor,
  refusals: recordRefusals,
  stories: recordStories,
  commands: recordCommands,
  console: recordConsole,
  surfaces: recordSurfaces,
  'data folder': recordDataFolder,
} as const satisfies Readonly<
  Record<string, (build: Build, recordings: readonly Recording[]) => Promise<Records>>
>;
export type PartName = keyof typeof parts;
export const partNames = Object.keys(parts) as readonly PartName[];

/** Lends a writable folder, and removes it afterwards. */
export async function withBuild<T>(folder: string, use: (build: Build) => Promise<T>): Promise<T> {
  const scratch = mkdtempSync(join(tmpdir(), 'tollgate-net-'));
  try {
    return await use({ folder, scratch, processes: 0 });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** A part waits for its gateway as long as it computes. */
const partsAtOnce = 2;

/** Records this build's behaviour in the given parts. */
export async function recordBuild(
  folder: string,
  recordings: readonly Recording[],
  names: readonly PartName[] = partNames,
): Promise<Records> {
  const left = [...names];
  const recorded = new Map<PartName, Records>();
  const work = async (): Promise<void> => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      const part = parts[name];
      recorded.set(name, await withBuild(folder, (build) => part(build, recordings)));
    }
  };
  // A part that fails does not leave the gateway of the other one behind.
  const ended = await Promise.allSettled(Array.from({ length: partsAtOnce }, work));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
  return new Map(names.flatMap((name) => [...(recorded.get(name) ?? [])]));
}

/** All formats of an exchange are one line, and all errors in one place of a refusal. */
const groupOf = (name: string): string =>
  /^(exchange|refusal) /.test(name) ? name.replace(/[- ][^- ]*$/, '') : name;

/**
 * The part of a recording that the repository keeps: a line for each group, its digest and its
 * name.
 */
export function digests(records: Records): string {
  const groups = new Map<string, string>();
  for (const [name, text] of records)
    groups.set(groupOf(name), `${groups.get(groupOf(name)) ?? ''}${name}\n${text}`);
  return [...groups].map(([name, text]) => `${digest(text)} ${name}\n`).join('');
}

/**
 * Names of groups whose digests differ, and of those that only one side has. Lists made without
 * PostgreSQL are not compared in its part.
 */
export function differingDigests(before: string, after: string): readonly string[] {
  const read = (text: string) =>
    new Map(
      text
        .split('\n')
        .filter(Boolean)
        .map((line) => [line.slice(17), line.slice(0, 16)]),
    );
  const [old, young] = [read(before), read(after)];
  const onPostgres = (name: string): boolean => name.startsWith('schema postgres');
  const both = [old, young].every((side) => [...side.keys()].some(onPostgres));
  const names = [...new Set([...old.keys(), ...young.keys()])];
  return names.filter((name) => (both || !onPostgres(name)) && old.get(name) !== young.get(name));
}

const around = 160;

/** The first difference of two texts, with its surroundings on both sides. */
function firstDifference(before: string, after: string): string {
  let at = 0;
  while (at < before.length && before[at] === after[at]) at += 1;
  const part = (text: string): string =>
    JSON.stringify(text.slice(Math.max(0, at - around), at + around));
  return `  - ${part(before)}\n  + ${part(after)}\n`;
}

/** One text for each record that differs. */
export function differences(before: Records, after: Records): readonly string[] {
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names.flatMap((name) => {
    const [old, young] = [before.get(name), after.get(name)];
    if (old === young) return [];
    if (old === undefined || young === undefined)
      return [`${name}: only in the ${old === undefined ? 'second' : 'first'}\n`];
    return [`${name}\n${firstDifference(old, young)}`];
  });
}
