import { existsSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/**
 * Databases of tests live in memory where there is room for them: crash tests kill processes, never
 * the machine, so nothing is lost by it but the wait.
 */
const memory = '/dev/shm';
const roomBytesMin = 4 * 2 ** 30;

function hasRoom(folder: string): boolean {
  if (!existsSync(folder)) return false;
  const room = statfsSync(folder);
  return room.bavail * room.bsize >= roomBytesMin;
}

if (process.env['TMPDIR'] === undefined && hasRoom(memory)) process.env['TMPDIR'] = memory;

/**
 * Vendors are made under watch: what their adapters send is held against the strict tables of what
 * they take (test/support/held.ts).
 */
const held = {
  name: 'vendors under watch',
  enforce: 'pre',
  transform(code: string, id: string): string | undefined {
    if (!id.endsWith('/src/providers/vendor.ts')) return undefined;
    const made = code.replace('export function defineVendor', 'function defineVendorAlone');
    if (made === code) throw new Error('src/providers/vendor.ts makes no vendors any more');
    return `import { held } from '../../test/support/held.ts';\n${made}\nexport const defineVendor = (...all) => held(defineVendorAlone(...all));\n`;
  },
} as const;

export default defineConfig({
  plugins: [held],
  test: {
    include: [
      'src/**/*.test.ts',
      'web/**/*.test.ts',
      'sim/**/*.test.ts',
      'test/**/*.test.ts',
      'bench/**/*.test.ts',
    ],
    globalSetup: ['test/global-setup.ts'],
    // Tests wait more than they compute: for crashed processes, for time-outs, for vendors that are
    // slow on purpose.
    maxWorkers: availableParallelism() + 1,
    // Others share the machine of CI, and some tests wait for real clocks: what fails there is
    // tried once more, and the report says `retry`.
    retry: process.env['CI'] === 'true' ? 1 : 0,
    // A state that has to come is waited for as long as a busy machine may need. One that never
    // comes costs this wait, once.
    expect: { poll: { timeout: 10_000 } },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
