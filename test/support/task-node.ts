import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Principal } from '../../src/accounts/principal.ts';
import { type Clock, systemClock, systemTimers } from '../../src/base/clock.ts';
import { randomText, requestId, systemRandom } from '../../src/base/random.ts';
import { buildSnapshot } from '../../src/catalog/build-snapshot.ts';
import { loadCatalog, recordConfiguration } from '../../src/catalog/catalog-store.ts';
import type { Snapshot } from '../../src/catalog/snapshot.ts';
import { OpenChannels } from '../../src/gateway/channels/open-channels.ts';
import { gatewayLimits, type OverrunAnswer } from '../../src/gateway/parts.ts';
import { type TaskLine, type TaskLimits, taskLimits } from '../../src/gateway/tasks/parts.ts';
import { TaskChannels } from '../../src/gateway/tasks/task-channels.ts';
import { Tasks } from '../../src/gateway/tasks/tasks.ts';
import type { VideoSubmission } from '../../src/gateway/tasks/submit.ts';
import { postControl } from '../../src/http/control-call.ts';
import { MemoryLimiter } from '../../src/limits/limiter.ts';
import { listFees, serves } from '../../src/app/gateway.ts';
import { FileUrls } from '../../src/media/file-urls.ts';
import { VendorDownloads, Downloads } from '../../src/media/downloads.ts';
import { type FileLimits, fileLimits, mediaLimits } from '../../src/media/limits.ts';
import { openFiles } from '../../src/media/stored-files.ts';
import { vendors } from '../../src/providers/index.ts';
import { Health } from '../../src/routing/candidates.ts';
import type { Database } from '../../src/storage/database.ts';
import { openFolderBlobs } from '../../src/storage/folder-blobs.ts';
import { openSealer } from '../../src/storage/seal.ts';
import { quickTasks } from './film-vendor.ts';
import { configurationFrom } from './running.ts';

/** The wall clock with an offset. The monotonic clock is not moved. */
export class TurnedClock implements Clock {
  turnedMs = 0;
  now(): number {
    return systemClock.now() + this.turnedMs;
  }
  monotonicMs(): number {
    return systemClock.monotonicMs();
  }
}

/** One process's tasks, on a database that may have other processes. */
export interface TaskNode {
  readonly tasks: Tasks;
  readonly clock: TurnedClock;
  readonly troubles: unknown[];
  /** The log lines of ended tasks. */
  readonly told: TaskLine[];
  readonly overruns: readonly OverrunAnswer[];
  /** Sells other models from now on. */
  sell(configuration: string): Promise<void>;
  /** Submits a task like its endpoint. */
  submit(account: string, wish?: Partial<VideoSubmission>): ReturnType<Tasks['submit']>;
  close(): Promise<void>;
}

const sealer = openSealer(Buffer.alloc(32, 5));
const names = {
  duration: 'duration',
  size: 'size',
  aspect_ratio: 'aspect_ratio',
  resolution: 'resolution',
  audio: 'audio',
  image: 'image',
  prompt: 'prompt',
};
const plain = {
  negativePrompt: undefined,
  size: undefined,
  aspectRatio: undefined,
  resolution: undefined,
  audio: undefined,
  seed: undefined,
};

/** `configuration`: YAML text. It is not started: call `tasks.start()`. */
export async function openTaskNode(
  database: Database,
  configuration: string,
  limits: Partial<TaskLimits> = {},
  kept: Partial<FileLimits> = {},
): Promise<TaskNode> {
  const clock = new TurnedClock();
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-films-'));
  const openChannels = new OpenChannels(vendors, { now: () => clock.now(), post: postControl });
  let snapshot: Snapshot | undefined;
  const sell = async (text: string): Promise<void> => {
    await recordConfiguration(database, await configurationFrom(text), sealer, clock);
    snapshot = buildSnapshot(await loadCatalog(database, sealer), serves, listFees());
    openChannels.keepOnly(snapshot);
  };
  await sell(configuration);
  const catalog = (): Snapshot => {
    if (snapshot === undefined) throw new Error('nothing is sold');
    return snapshot;
  };
  const addresses = new FileUrls(Buffer.alloc(32), undefined);
  const troubles: unknown[] = [];
  const told: TaskLine[] = [];
  const overruns: OverrunAnswer[] = [];
  const tasks = new Tasks({
    clock,
    random: systemRandom,
    timers: systemTimers,
    limiter: new MemoryLimiter(clock),
    health: new Health(),
    catalog,
    openChannels,
    limits: gatewayLimits,
    downloads: new Downloads(mediaLimits),
    access: () => {},
    failed: () => {},
    overran: (answer) => void overruns.push(answer),
    database,
    files: openFiles({
      database,
      blobs: openFolderBlobs(folder),
      clock,
      addresses,
      copies: new VendorDownloads(fileLimits, undefined),
      limits: { ...fileLimits, ...kept },
    }),
    taskChannels: new TaskChannels(database, sealer, openChannels, catalog),
    taskLimits: { ...taskLimits, ...quickTasks, ...limits },
    ended: (line) => void told.push(line),
    trouble: (_task, error) => void troubles.push(error),
  });
  const close = async (): Promise<void> => {
    await tasks.close();
    await openChannels.close();
  };
  onTestFinished(async () => {
    await close();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    tasks,
    clock,
    troubles,
    told,
    overruns,
    sell,
    close,
    submit: (account, wish) => tasks.submit(request(account, wish), () => {}),
  };
}

function request(userId: string, more: Partial<VideoSubmission> = {}): VideoSubmission {
  const principal: Principal = {
    keyId: 'key_test',
    userId,
    group: 'default',
    limit: undefined,
    expiresAt: undefined,
  };
  return {
    id: requestId(systemClock.now()),
    taskId: `video_${randomText(24)}`,
    principal,
    model: 'sora-2',
    seconds: 10,
    options: { ...plain, prompt: 'A cat', images: [], more: {} },
    usualDurations: [],
    moreSeconds: [],
    names,
    idempotencyKey: undefined,
    beforeAttempts: undefined,
    ...more,
  };
}
