import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomText } from '../base/id.ts';
import { MasterKeyError, masterKeyBytes } from './seal.ts';

const variable = 'TOLLGATE_MASTER_KEY';
const fileName = 'master.key';

/** A key that was made at random has some thirty different bytes. */
const differentBytesMin = 16;

/**
 * Whether somebody typed it: what is sealed under a pattern can be opened by whoever guesses it.
 */
export const isTyped = (key: Buffer): boolean => new Set(key).size < differentBytesMin;

export const makeOneWith = `openssl rand -base64 ${masterKeyBytes}`;

function parse(text: string, where: string): Buffer {
  const trimmed = text.trim();
  const key = Buffer.from(trimmed, 'base64');
  if (key.length === masterKeyBytes && /^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) return key;
  throw new MasterKeyError(
    `${where} must hold ${masterKeyBytes} bytes in base64. Make one with: ${makeOneWith}`,
  );
}

/**
 * The master key: of the variable TOLLGATE_MASTER_KEY, else of the file `master.key` in the data
 * folder, which is made (readable by its owner alone) when absent. Processes that start at once get
 * the same key.
 */
export async function loadMasterKey(
  dataFolder: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Buffer> {
  const given = env[variable];
  if (given !== undefined && given !== '') return parse(given, variable);
  const file = join(dataFolder, fileName);
  const kept = await readIfThere(file);
  if (kept !== undefined) return parse(kept, file);
  await mkdir(dataFolder, { recursive: true });
  // Written aside and linked: whoever sees the file sees all of it, and the first one wins.
  const draft = `${file}.${randomText(12)}`;
  await writeFile(draft, `${randomBytes(masterKeyBytes).toString('base64')}\n`, {
    mode: 0o600,
    flag: 'wx',
    flush: true,
  });
  try {
    await link(draft, file);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return parse(await readFile(file, 'utf8'), file);
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
