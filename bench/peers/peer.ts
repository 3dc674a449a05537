import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Contender, targetOf } from '../contender.ts';
import { firstAnswer } from '../measure.ts';
import type { Vendors } from '../vendor.ts';

/** Another gateway, outside the project. */
export interface Peer {
  readonly name: string;
  readonly version: string;
  /**
   * Puts it into the folder from a package registry; throws with the reason when it cannot, and
   * always where no package registry has it.
   */
  install(folder: string): void;
  readonly installed: (folder: string) => boolean;
  /** Why it is absent from a run in which it is not installed. */
  readonly absent: string;
  contender(folder: string, scratch: string, vendors: Vendors): Promise<Contender>;
}

/** Where peers are: `TOLLGATE_BENCH_PEERS`, or the user's cache. */
const peersFolder =
  process.env['TOLLGATE_BENCH_PEERS'] ??
  join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tollgate-bench');

export const folderOf = (peer: Peer): string =>
  join(peersFolder, `${peer.name.toLowerCase()}-${peer.version}`);

export const fromRegistry = 'not installed when this page was made (`npm run bench:peers`)';

/** What is alike in peers that no package registry has: the operator puts their program here. */
export function programOnly(program: string): Pick<Peer, 'install' | 'installed' | 'absent'> {
  return {
    install: (folder) => {
      throw new Error(
        `no package registry has it. Build it from its source as its README says, and put the program at ${join(folder, program)}`,
      );
    },
    installed: (folder) => existsSync(join(folder, program)),
    absent: 'no package registry has it, and its program was not there when this page was made',
  };
}

/** Makes its data folder, which a cold start finds: starts it, and stops it after an answer. */
export async function startedOnce(contender: Contender): Promise<Contender> {
  const started = await contender.start();
  try {
    await firstAnswer(targetOf(contender, 'whole'), started);
  } finally {
    await started.stop();
  }
  return contender;
}
