import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Records } from './client.ts';
import { makeDataFolder } from './data-folder.ts';
import { type Recording, recordingsFolder, shapes } from './recordings.ts';
import {
  differences,
  digests,
  type PartName,
  partNames,
  recordBuild,
  withBuild,
} from './record.ts';

const usage = `usage: npm run net:record             writes test/net/digests.txt
       npm run net:record -- FILE     writes all of it to FILE, packed
       npm run net:compare -- FILE    compares with what was written there
       npm run net:compare -- FOLDER  compares with the build in another checkout
       npm run net:data-folder        writes test/net/data-folder with this build
       … --only PART                  one of ${partNames.join(', ')}
`;
const here = fileURLToPath(new URL('../..', import.meta.url));
const digestsFile = fileURLToPath(new URL('digests.txt', import.meta.url));
const shownMax = 40;

const read = (file: string): Records =>
  new Map(JSON.parse(gunzipSync(readFileSync(file)).toString('utf8')));

async function compare(
  target: string,
  recordings: readonly Recording[],
  only: readonly PartName[],
): Promise<void> {
  const folder = existsSync(join(target, 'bin', 'tollgate.js'));
  const before = folder
    ? recordBuild(resolve(target), recordings, only)
    : Promise.resolve(read(target));
  const [old, young] = await Promise.all([before, recordBuild(here, recordings, only)]);
  const found = differences(old, young);
  for (const text of found.slice(0, shownMax)) console.log(text);
  if (found.length > shownMax) console.log(`… and ${found.length - shownMax} more`);
  console.log(`${young.size} records, ${found.length} different`);
  process.exitCode = found.length > 0 ? 1 : 0;
}

async function record(
  file: string | undefined,
  recordings: readonly Recording[],
  only: readonly PartName[],
): Promise<void> {
  const records = await recordBuild(here, recordings, only);
  if (file === undefined) writeFileSync(digestsFile, digests(records));
  else writeFileSync(file, gzipSync(JSON.stringify([...records])));
  console.log(`${records.size} records`);
}

async function main([what, ...rest]: readonly string[]): Promise<void> {
  const at = rest.indexOf('--only');
  const wanted = partNames.filter((name) => at < 0 || name === rest[at + 1]);
  const [target] = at === 0 ? [] : rest;
  if (recordingsFolder === undefined)
    throw new Error('there are no recordings at ../shared/recordings');
  const recordings = shapes(recordingsFolder);
  if (what === 'data-folder') return withBuild(here, (build) => makeDataFolder(build, recordings));
  if (what === 'record' && (target !== undefined || at < 0))
    return record(target, recordings, wanted);
  if (what === 'compare' && target !== undefined) return compare(target, recordings, wanted);
  process.stderr.write(usage);
  process.exitCode = 1;
}

await main(process.argv.slice(2));
