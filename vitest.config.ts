import { existsSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

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
 * they take (test/support/held.ts); test/setup.ts fails the test that sent something else.
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

/**
 * Files that need a process of their own: they measure memory or time, change what belongs to the
 * process (its environment, signals, garbage collector), load a package that changes Node's classes
 * (alipay-sdk changes how sockets end), or stop and break what they start. Files that need none
 * of this are not listed, even if their folder is: a process takes seconds to load the gateway.
 */
const alone = [
  'src/accounts/keyring.test.ts',
  'src/base/json.test.ts',
  'src/catalog/price.test.ts',
  'src/cli/!(command-word|progress|serve-lines|terminal).test.ts',
  'src/http/!(multipart|request-body|request-head|response-parser).test.ts',
  'src/ledger/crowds.test.ts',
  'src/providers/formats/openai-chat/adapter.test.ts',
  'src/storage/!(backup|open-blobs|seal|serving-lock).test.ts',
  'src/telemetry/log.test.ts',
  'test/*-crash.test.ts',
  'test/*-simulation.test.ts',
  'test/attack.test.ts',
  'test/audio-memory.test.ts',
  'test/cli.test.ts',
  'test/commands.test.ts',
  'test/console-speed.test.ts',
  'test/cost.test.ts',
  'test/crash.test.ts',
  'test/deploy.test.ts',
  'test/doors.test.ts',
  'test/faults/**/*.test.ts',
  'test/house.test.ts',
  'test/large-bodies.test.ts',
  'test/mixed-load.test.ts',
  'test/move-in-litellm.test.ts',
  'test/net.test.ts',
  'test/old-generation.test.ts',
  'test/openapi.test.ts',
  'test/package.test.ts',
  'test/request-path.test.ts',
  'test/scale-out.test.ts',
  'test/traces.test.ts',
  'test/video-crowd.test.ts',
  'test/wallet-oracles.test.ts',
  'test/workers.test.ts',
];

// Tests wait more than they compute: for crashed processes, for time-outs, for vendors that are slow
// on purpose.
const maxWorkers = availableParallelism() + 1;

const everyFile = {
  setupFiles: ['test/setup.ts'],
  maxWorkers,
  // A state that has to come is waited for as long as a busy machine may need. One that never comes
  // costs this wait, once.
  expect: { poll: { timeout: 10_000 } },
  testTimeout: 60_000,
  hookTimeout: 60_000,
} as const;

export default defineConfig({
  test: {
    maxWorkers,
    globalSetup: ['test/global-setup.ts'],
    projects: [
      { plugins: [held], test: { ...everyFile, name: 'alone', include: alone } },
      {
        plugins: [held],
        test: {
          ...everyFile,
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          isolate: false, // as below
        },
      },
      {
        plugins: [held],
        test: {
          ...everyFile,
          name: 'together',
          include: ['{bench,src,web,sim,test}/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...alone, 'test/browser/**'],
          // A worker loads the gateway once for all its files: for most files that takes longer
          // than their tests.
          isolate: false,
        },
      },
    ],
  },
});
