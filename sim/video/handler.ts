import type { Call, TaskHandler } from '../task-handler.ts';
import type { Reply } from '../dialect.ts';
import type { VideoRequest, SimTask } from './task.ts';

export interface VideoCall extends Call {
  readonly bytes: Buffer;
}

/** A valid submission. */
export interface Submission {
  readonly request: VideoRequest;
  readonly accepted: (id: string) => Reply;
}

/** A poll of a task. */
export interface Poll {
  readonly id: string;
  /** `videoUrl`: the public address of the video. */
  readonly report: (task: SimTask, videoUrl: string) => Reply;
  /** The response when there is no such task. */
  readonly unknown: Reply;
}

/** A download of a video. */
export interface VideoDownload {
  readonly taskId: string;
}

/** The video handler of one vendor. */
export type VideoHandler = TaskHandler<VideoCall, Submission | Poll | VideoDownload>;

/** Seconds since 1970. */
export const secondsOf = ({ createdMs }: SimTask): number => Math.floor(createdMs / 1_000);

const sides: Readonly<Record<string, number>> = { '2k': 1440, '4k': 2160 };

/** The pixel size of that shape and resolution, in even numbers. */
export function pixels(
  resolution: string,
  ratio = '16:9',
): { readonly width: number; readonly height: number } {
  const name = resolution.toLowerCase();
  const short = sides[name] ?? (Number.parseInt(name, 10) || 720);
  const [w = 16, h = 9] = ratio.split(':').map(Number);
  const even = (n: number): number => Math.round(n / 2) * 2;
  return w >= h
    ? { width: even((short * w) / h), height: short }
    : { width: short, height: even((short * h) / w) };
}
