import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../src/base/thrown.ts';

const controller = '/sys/fs/cgroup/cpu';
/**
 * Long enough for all threads of a process to get some: the kernel hands out the quota to each core
 * in slices of 5 ms.
 */
const periodMicros = 50_000;
/** The weight of a group that others must not disturb. */
const sharesMax = 262_144;

/** A part of the machine's processor time that its processes share and cannot exceed. */
export interface Quota {
  /** A part of this part. */
  within(name: string, cores: number): Quota;
  /** Takes a process with all of its threads. */
  take(pid: number): void;
  /** Its processes are free again. */
  remove(): void;
}

/** Why processor time cannot be shared out here; undefined: it can. */
export function quotaProblem(): string | undefined {
  if (!existsSync(join(controller, 'cpu.cfs_quota_us')))
    return `there is no cgroup controller at ${controller} (cgroup v1, "cpu")`;
  try {
    accessSync(controller, constants.W_OK);
    quota(`tollgate-bench-${process.pid}-try`, 1).remove();
    return undefined;
  } catch (error) {
    return `groups cannot be made in ${controller}: ${messageOf(error)}`;
  }
}

/** A group with that many cores' time, such as 0.3. */
export function quota(name: string, cores: number): Quota {
  return made(join(controller, name), cores);
}

/** A group without a limit; processes outside of all groups wait for it and for the others. */
export function unlimited(name: string): Quota {
  return made(join(controller, name), undefined);
}

function made(folder: string, cores: number | undefined): Quota {
  mkdirSync(folder);
  writeFileSync(join(folder, 'cpu.shares'), String(sharesMax));
  if (cores !== undefined) {
    writeFileSync(join(folder, 'cpu.cfs_period_us'), String(periodMicros));
    writeFileSync(join(folder, 'cpu.cfs_quota_us'), String(Math.round(cores * periodMicros)));
  }
  return {
    within: (name, part) => made(join(folder, name), part),
    take: (pid) => writeFileSync(join(folder, 'cgroup.procs'), String(pid)),
    remove: () => remove(folder),
  };
}

function remove(folder: string): void {
  for (const name of readdirSync(folder))
    if (statSync(join(folder, name)).isDirectory()) remove(join(folder, name));
  for (const pid of readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean))
    free(pid);
  rmdirSync(folder);
}

function free(pid: string): void {
  try {
    writeFileSync(join(controller, 'cgroup.procs'), pid);
  } catch {
    // The process has ended meanwhile.
  }
}
