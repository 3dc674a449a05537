import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { mediaMigrations } from '../src/media/file-table.ts';
import { readFileRow } from '../src/media/files.ts';
import { migrate } from '../src/storage/migrate.ts';
import { forEachDatabase } from './databases.ts';
import { fileStore, temporaryFolder } from './support/file-store.ts';
import { png } from './support/png.ts';

const writer = fileURLToPath(new URL('./support/file-writer.ts', import.meta.url));
/** An even number. */
const rounds = Number(process.env['MEDIA_CRASHES'] ?? 4);

/** From when on the time until a writer's end counts. */
const from = {
  ready: /^ready\n/,
  /** On a busy machine this may take longer than all the rest. */
  'first file': /^ready\n.*\n/,
} as const;

/** The lines of a writer that was killed `ms` after it was ready or had stored its first file. */
function killed(
  ms: number,
  after: keyof typeof from,
  ...args: readonly string[]
): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', 'tsx', writer, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let output = '';
    child.stdout.on('data', (text) => {
      const begun = from[after].test(output);
      output += text;
      if (!begun && from[after].test(output)) setTimeout(() => child.kill('SIGKILL'), ms);
    });
    child.on('close', (code) =>
      code === null
        ? resolve(output.split('\n').slice(1, -1))
        : reject(new Error(`it ended with ${code}`)),
    );
  });
}

forEachDatabase((_, _openFresh, fresh) => {
  test('whatever kills the process, a file that was stored is whole, and half a file is gone in time', {
    timeout: 120_000,
  }, async () => {
    const { url, open } = await fresh();
    const database = await open();
    await migrate(database, mediaMigrations);
    const folder = await temporaryFolder();
    const told: string[] = [];
    let writers = 0;
    for (let round = 0; round < rounds; round += 2)
      for (const [ms, after] of [
        [5 * round, 'ready'],
        [37 * round, 'first file'],
      ] as const) {
        told.push(...(await killed(ms, after, url, folder)));
        writers++;
      }
    expect(told.length).toBeGreaterThanOrEqual(writers / 2);
    const store = await fileStore(() => Promise.resolve(database), { folder });
    const { rows } = await store.left();
    const kept = new Map(
      rows
        .filter((row) => row['stored'] === 1n)
        .map((row) => [String(row['id']), readFileRow(row)]),
    );
    for (const line of told)
      expect(kept.get(line.split(' ')[0] ?? '')?.bytes).toBe(Number(line.split(' ')[1]));
    for (const file of kept.values()) {
      const bytes = await (
        await store.files.read(file, { first: 0, last: file.bytes - 1 })
      )?.toArray();
      const whole = Buffer.concat(bytes ?? []);
      expect(whole.length).toBe(file.bytes);
      expect(whole.subarray(0, png.length)).toEqual(png);
      for (let at = png.length; at < whole.length; at += 20_000)
        expect(whole[at]).toBe((at - png.length) / 20_000);
    }
    // Four files at once were on their way each time: that many rows at most stand for nothing.
    expect(rows.length - kept.size).toBeLessThanOrEqual(4 * writers);
    store.time = Number.MAX_SAFE_INTEGER;
    expect(await store.files.expire()).toBe(rows.length);
    expect(await store.left()).toEqual({ rows: [], accounts: [], blobs: [] });
  });
});
