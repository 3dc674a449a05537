import assert from 'node:assert/strict';
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Env } from '../base/env.ts';
import { randomText } from '../base/random.ts';
import { errorCodeOf } from '../base/thrown.ts';

export const masterKeyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const version = 'v1.';
const variable = 'TOLLGATE_MASTER_KEY';
const oldVariable = 'TOLLGATE_OLD_MASTER_KEY';

/** The master key is unusable or the wrong one: the operator has to mend it, and sees no stack. */
export class MasterKeyError extends Error {}

/**
 * Encrypts secrets at rest. Each purpose has its own key, so that a text sealed for one cannot be
 * opened for another.
 */
export interface Sealer {
  /** Text → `v1.` and base64url of nonce, ciphertext and tag. */
  seal(purpose: string, text: string): string;
  /** Throws when the text was not sealed with this key for this purpose. */
  unseal(purpose: string, sealed: string): string;
  /** 32 bytes for `purpose`, for signatures and the like. */
  key(purpose: string): Buffer;
}

/** AES-256-GCM under keys that HKDF-SHA256 derives from the master key. */
export function openSealer(masterKey: Buffer): Sealer {
  assert(masterKey.length === masterKeyBytes, 'the master key has 32 bytes');
  const keys = new Map<string, Buffer>();
  const key = (purpose: string): Buffer => {
    let derived = keys.get(purpose);
    if (derived === undefined) {
      derived = Buffer.from(hkdfSync('sha256', masterKey, '', `tollgate/${purpose}`, 32));
      keys.set(purpose, derived);
    }
    return derived;
  };
  return {
    key,
    seal(purpose, text) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key(purpose), nonce);
      const sealed = Buffer.concat([
        nonce,
        cipher.update(text, 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
      return version + sealed.toString('base64url');
    },
    unseal(purpose, sealed) {
      const bytes = Buffer.from(sealed.slice(version.length), 'base64url');
      if (!sealed.startsWith(version) || bytes.length < nonceBytes + tagBytes)
        throw new Error('this is not a sealed secret');
      const decipher = createDecipheriv(
        'aes-256-gcm',
        key(purpose),
        bytes.subarray(0, nonceBytes),
        { authTagLength: tagBytes },
      );
      decipher.setAuthTag(bytes.subarray(-tagBytes));
      try {
        return Buffer.concat([
          decipher.update(bytes.subarray(nonceBytes, -tagBytes)),
          decipher.final(),
        ]).toString('utf8');
      } catch (error) {
        throw new MasterKeyError(
          `a secret sealed for '${purpose}' cannot be opened: the master key (TOLLGATE_MASTER_KEY, or master.key in the data folder) is not the one that it was sealed with. Start the gateway once with that one in ${oldVariable}`,
          { cause: error },
        );
      }
    },
  };
}

/** Seals anew what the master key before has sealed. */
export interface Resealer {
  /**
   * Undefined: nothing is to be done, since the present key opens the text, or since neither does.
   */
  reseal(purpose: string, sealed: string): string | undefined;
}

export function openResealer(sealer: Sealer, oldMasterKey: Buffer): Resealer {
  const old = openSealer(oldMasterKey);
  const opens = (one: Sealer, purpose: string, sealed: string): string | undefined => {
    try {
      return one.unseal(purpose, sealed);
    } catch (error) {
      if (error instanceof MasterKeyError) return undefined;
      throw error;
    }
  };
  return {
    reseal(purpose, sealed) {
      if (opens(sealer, purpose, sealed) !== undefined) return undefined;
      const text = opens(old, purpose, sealed);
      return text === undefined ? undefined : sealer.seal(purpose, text);
    },
  };
}

const fileName = 'master.key';

/** A key that was made at random has some thirty different bytes. */
const differentBytesMin = 16;

/**
 * Whether a key was typed, not made at random: anyone who guesses its pattern can open what it has
 * sealed.
 */
export const looksTyped = (key: Buffer): boolean => new Set(key).size < differentBytesMin;

export const masterKeyCommand = `openssl rand -base64 ${masterKeyBytes}`;

function parse(text: string, where: string): Buffer {
  const trimmed = text.trim();
  const key = Buffer.from(trimmed, 'base64');
  if (key.length === masterKeyBytes && /^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) return key;
  throw new MasterKeyError(
    `${where} must hold ${masterKeyBytes} bytes in base64. Make one with: ${masterKeyCommand}`,
  );
}

/**
 * The master key: from the variable TOLLGATE_MASTER_KEY, else from the file `master.key` in the
 * data folder, which is made (readable by its owner alone) when absent. Processes that start at
 * once get the same key.
 */
export async function loadMasterKey(dataFolder: string, env: Env): Promise<Buffer> {
  const given = env[variable];
  if (given !== undefined && given !== '') return parse(given, variable);
  const file = join(dataFolder, fileName);
  const kept = await readIfThere(file);
  if (kept !== undefined) return parse(kept, file);
  await mkdir(dataFolder, { recursive: true });
  // The key is written aside and linked: every reader of the file sees all of it, and the first
  // writer wins.
  const draft = `${file}.${randomText(12)}`;
  await writeFile(draft, `${randomBytes(masterKeyBytes).toString('base64')}\n`, {
    mode: 0o600,
    flag: 'wx',
    flush: true,
  });
  try {
    await link(draft, file);
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return parse(await readFile(file, 'utf8'), file);
}

/** The master key before this one, from the variable TOLLGATE_OLD_MASTER_KEY, if it is set. */
export function oldMasterKey(env: Env): Buffer | undefined {
  const given = env[oldVariable];
  return given === undefined || given === '' ? undefined : parse(given, oldVariable);
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
