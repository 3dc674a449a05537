import type { ChargeLine } from './usage.ts';
import type { Instant, Yuan } from './shapes.ts';

export type TaskState = 'pending' | 'processing' | 'completed' | 'failed';

/**
 * GET `tasks` (newest first), `tasks/:id`; the event `task`. Prompts are not stored. Kept for 24
 * hours.
 */
export interface TaskView {
  readonly id: string;
  readonly model: string;
  readonly key_id: string;
  readonly key_name: string;
  readonly seconds: number;
  readonly size: string | null;
  readonly state: TaskState;
  /** 0 to 100; null when its vendor tells none. */
  readonly progress: number | null;
  /** While it runs. */
  readonly held: Yuan;
  /** When it is done. */
  readonly charged: Yuan;
  readonly submitted_at: Instant;
  readonly ended_at: Instant | null;
  readonly expires_at: Instant;
  readonly video_url: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface TaskDetail extends TaskView {
  readonly lines: readonly ChargeLine[];
  /** How long such a task usually takes, from our own last ones; null when there were too few. */
  readonly usual_ms: number | null;
}
