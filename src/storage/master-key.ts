import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomText } from '../base/id.ts';
import { MasterKeyError, masterKeyBytes } from './seal.ts';

const variable = 'TOLLGATE_MASTER_KEY';
const fileName = 'master.key';

/** A key that was made at random has some thirty different bytes; one with fewer than these was typed. */
const differentBytesMin = 16;

function parse(text: string, where: string): Buffer {
  const trimmed = text.trim();
  const key = Buffer.from(trimmed, 'base64');
  const isMade = new Set(key).size >= differentBytesMin;
  if (key.length === masterKeyBytes && /^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed) && isMade) return key;
  if (key.length === masterKeyBytes && !isMade)
    throw new MasterKeyError(`${where} holds a pattern, not a key. Make one with: openssl rand -base64 ${masterKeyBytes}`);
  throw new MasterKeyError(`${where} must hold ${masterKeyBytes} bytes in base64. Make one with: openssl rand -base64 ${masterKeyBytes}`);
}

/**
 * The master key: of the variable TOLLGATE_MASTER_KEY, else of the file `master.key` in the data folder, which is made (readable by its owner
 * alone) when absent. Processes that start at once get the same key.
 */
export async function loadMasterKey(dataFolder: string, env: Readonly<Record<string, string | undefined>>): Promise<Buffer> {
  const given = env[variable];
  if (given !== undefined && given !== '') return parse(given, variable);
  const file = join(dataFolder, fileName);
  const kept = await readIfThere(file);
  if (kept !== undefined) return parse(kept, file);
  await mkdir(dataFolder, { recursive: true });
  // Written aside and linked: whoever sees the file sees all of it, and the first one wins.
  const draft = `${file}.${randomText(12)}`;
  await writeFile(draft, `${randomBytes(masterKeyBytes).toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true });
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
