import { existsSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Databases of tests live in memory where there is room for them: crash tests kill processes, never the machine, so nothing is lost by it but the wait. */
const memory = '/dev/shm';
const roomBytesMin = 4 * 2 ** 30;

function hasRoom(folder: string): boolean {
  if (!existsSync(folder)) return false;
  const room = statfsSync(folder);
  return room.bavail * room.bsize >= roomBytesMin;
}

if (process.env['TMPDIR'] === undefined && hasRoom(memory)) process.env['TMPDIR'] = memory;

export default defineConfig({
  test: {
    include: [
      'src/**/*.test.ts',
      'web/**/*.test.ts',
      'sim/**/*.test.ts',
      'test/**/*.test.ts',
      'bench/**/*.test.ts',
    ],
    globalSetup: ['test/global-setup.ts'],
    // Tests wait more than they compute: for crashed processes, for time-outs, for vendors that are slow on purpose.
    maxWorkers: availableParallelism() + 1,
    // Others share the machine of CI, and some tests wait for real clocks: what fails there is tried once more, and the report says `retry`.
    retry: process.env['CI'] === 'true' ? 1 : 0,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
