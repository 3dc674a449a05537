import type { Files } from '../../media/files.ts';
import type { Database } from '../../storage/database.ts';
import type { Parts } from '../parts.ts';
import type { TaskLimits } from './limits.ts';
import type { Pins } from './pins.ts';
import type { Task } from './task.ts';

/** What is told of a task when it has ended, in the words of a request's line. */
export interface TaskLine {
  readonly id: string;
  readonly user: string;
  readonly key: string;
  readonly model: string;
  readonly group: string;
  readonly channel: string;
  readonly outcome: string;
  /** Nano-yuan, as a decimal string. */
  readonly costNano: string;
  readonly durationMs: number;
}

/** What work that outlives its request needs beside the pipeline's parts. */
export interface TaskParts
  extends Pick<
    Parts,
    | 'clock'
    | 'random'
    | 'timers'
    | 'limiter'
    | 'health'
    | 'catalog'
    | 'lanes'
    | 'downloads'
    | 'access'
    | 'limits'
  > {
  readonly database: Database;
  readonly files: Pick<Files, 'put' | 'copy' | 'room' | 'remove'>;
  readonly pins: Pins;
  readonly taskLimits: TaskLimits;
  readonly ended: (line: TaskLine) => void;
  /**
   * Something went wrong that nobody is told of: the task, or several of them, are asked for again.
   */
  readonly trouble: (task: Task | undefined, error: unknown) => void;
}
