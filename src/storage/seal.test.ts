import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { looksTyped, loadMasterKey, openResealer, openSealer } from './seal.ts';

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'tollgate-key-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

test('what is sealed opens again, for the same purpose and under the same key only', () => {
  const sealer = openSealer(Buffer.alloc(32, 1));
  const sealed = sealer.seal('channel', 'sk-秘密');
  const bytes = Buffer.from(sealed.slice('v1.'.length), 'base64url');
  expect(bytes.includes('sk-秘密')).toBe(false);
  expect(sealer.seal('channel', 'sk-秘密')).not.toBe(sealed);
  expect(sealer.unseal('channel', sealed)).toBe('sk-秘密');
  expect(() => sealer.unseal('wallet', sealed)).toThrow("sealed for 'wallet' cannot be opened");
  expect(() => openSealer(Buffer.alloc(32, 2)).unseal('channel', sealed)).toThrow('master key');
  expect(() => sealer.unseal('channel', 'sk-plain')).toThrow('not a sealed secret');
  const flipped = sealed.slice(0, 20) + (sealed[20] === 'A' ? 'B' : 'A') + sealed.slice(21);
  expect(() => sealer.unseal('channel', flipped)).toThrow('master key');
});

test('what the key before has sealed is sealed anew, and nothing else', () => {
  const [before, now, other] = [1, 2, 3].map((byte) => openSealer(Buffer.alloc(32, byte)));
  assert(before && now && other);
  const resealer = openResealer(now, Buffer.alloc(32, 1));
  const resealed = resealer.reseal('channel', before.seal('channel', 'sk-1'));
  expect(now.unseal('channel', resealed ?? '')).toBe('sk-1');
  expect(resealer.reseal('channel', now.seal('channel', 'sk-1'))).toBeUndefined();
  expect(resealer.reseal('channel', other.seal('channel', 'sk-1'))).toBeUndefined();
  expect(() => resealer.reseal('channel', 'sk-plain')).toThrow('not a sealed secret');
});

test('purposes have keys of their own', () => {
  const sealer = openSealer(Buffer.alloc(32, 1));
  expect(sealer.key('links')).toHaveLength(32);
  expect(sealer.key('links')).not.toEqual(sealer.key('channel'));
});

test('the master key is made once, for its owner alone, and kept', async () => {
  const data = join(await folder(), 'new');
  const keys = await Promise.all(Array.from({ length: 8 }, () => loadMasterKey(data, {})));
  expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(1);
  expect(await readdir(data)).toEqual(['master.key']);
  expect((await stat(join(data, 'master.key'))).mode & 0o777).toBe(0o600);
});

test('a key that somebody typed is known for one', () => {
  for (const typed of [
    Buffer.alloc(32),
    Buffer.alloc(32, 'changeme'),
    Buffer.alloc(32, '0123456789'),
  ])
    expect(looksTyped(typed)).toBe(true);
  expect(looksTyped(createHash('sha256').update('a key').digest())).toBe(false);
});

test('a given master key wins, and a wrong one is refused without being shown', async () => {
  const data = await folder();
  const given = createHash('sha256').update('a key').digest();
  expect(await loadMasterKey(data, { TOLLGATE_MASTER_KEY: given.toString('base64') })).toEqual(
    given,
  );
  expect(await readdir(data)).toEqual([]);
  await expect(loadMasterKey(data, { TOLLGATE_MASTER_KEY: 'too-short' })).rejects.toThrow(
    /^TOLLGATE_MASTER_KEY must hold 32 bytes in base64/,
  );
  await writeFile(join(data, 'master.key'), 'rubbish');
  await expect(loadMasterKey(data, {})).rejects.toThrow(/master\.key must hold 32 bytes/);
});
