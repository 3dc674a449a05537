import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A disk of a few megabytes that can be filled to its last byte. */
export interface SmallDisk {
  readonly folder: string;
  fill(): void;
  free(): void;
}

const done = (program: string, ...args: readonly string[]): boolean =>
  spawnSync(program, args, { stdio: 'ignore' }).status === 0;
const mount = (folder: string, megabytes: number): boolean =>
  done('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder);

/** Whether this machine allows a test to mount one: as root, with that capability. */
export const disksCanBeMade = ((): boolean => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-disk-'));
  try {
    return mount(folder, 1) && done('umount', folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
})();

export function smallDisk(megabytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-disk-'));
  if (!mount(folder, megabytes)) throw new Error('no disk can be mounted');
  onTestFinished(() => {
    done('umount', '-l', folder);
    rmSync(folder, { recursive: true, force: true });
  });
  const ballast = join(folder, 'ballast');
  return {
    folder,
    fill() {
      const file = openSync(ballast, 'w');
      const piece = Buffer.alloc(4_096);
      try {
        for (;;) writeSync(file, piece);
      } catch {
        closeSync(file);
      }
    },
    free: () => rmSync(ballast),
  };
}
