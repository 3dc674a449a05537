import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Percentiles } from './load.ts';

const commits = 200;
const bytes = Buffer.alloc(4096, 1);

/**
 * The time that this disk needs to store 4 KB durably, without other load: from an append to a file
 * of the folder until `fdatasync` returns. Milliseconds: p50, p99, largest. A request that waits
 * for a durable commit cannot be faster.
 */
export function commitMs(folder: string): Percentiles {
  const file = join(folder, 'commit.probe');
  const descriptor = openSync(file, 'a');
  try {
    const took = Array.from({ length: commits }, () => {
      const begun = performance.now();
      writeSync(descriptor, bytes);
      fdatasyncSync(descriptor);
      return performance.now() - begun;
    }).sort((a, b) => a - b);
    return [0.5, 0.99, 1].map((share) => took[Math.floor(share * (commits - 1))] ?? 0);
  } finally {
    closeSync(descriptor);
    rmSync(file);
  }
}
