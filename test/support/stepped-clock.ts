import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A wall clock that can be set while its process serves. The monotonic clock is not changed. */
export interface SteppedClock {
  /** Environment of the process with this clock. */
  readonly env: Readonly<Record<string, string>>;
  /** Sets the offset from the right time. */
  set(offsetMs: number): void;
}

/** The code that the process runs first, in each of its threads. */
const shifted = (file: string): string => `
import { readFileSync } from 'node:fs';
const right = Date.now;
let offset = 0;
setInterval(() => { offset = Number(readFileSync(${JSON.stringify(file)}, 'utf8')); }, 10).unref();
globalThis.Date = class extends Date {
  constructor(...parts) {
    if (parts.length === 0) super(right() + offset);
    else super(...parts);
  }
  static now() {
    return right() + offset;
  }
};
`;

export function steppedClock(folder: string): SteppedClock {
  const [file, script] = [join(folder, 'clock-offset'), join(folder, 'clock.mjs')];
  const set = (offsetMs: number): void => {
    writeFileSync(`${file}.new`, String(offsetMs));
    renameSync(`${file}.new`, file);
  };
  set(0);
  writeFileSync(script, shifted(file));
  return { env: { NODE_OPTIONS: `--import ${pathToFileURL(script).href}` }, set };
}
