/** What routing needs to know of a channel. Generic, so that it needs no catalog. */
export interface Weighted {
  /** One breaker for each id (channel and key). */
  readonly id: string;
  /** Lower first. */
  readonly priority: number;
  /** Share among those of the same priority; 0 = only when nothing else is left. */
  readonly weight: number;
  /** What a usual request costs there, in any one unit. Absent: nobody has said. */
  readonly cost?: number;
  /** By what its speed is remembered; absent: by its id. */
  readonly pace?: string;
}

/** How far an attempt had come when it failed. */
export type Stage = 'connecting' | 'waiting' | 'streaming';
