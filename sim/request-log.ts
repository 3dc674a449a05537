/** A request to the simulator, and its result. */
export interface SimRequest {
  readonly vendor: string;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Unchanged; empty when larger than `bodyBytesKept`, and for `sim-fast`. */
  readonly body: Buffer;
  /** 0 until the status line was sent. */
  status: number;
  /** The client closed the connection before the end. */
  left: boolean;
}

export const requestsKept = 1_000;
export const bodyBytesKept = 256 * 1024;

/** The last requests, oldest first. */
export class RequestLog {
  private readonly kept: SimRequest[] = [];

  add(request: SimRequest): void {
    this.kept.push(request);
    if (this.kept.length > 2 * requestsKept) this.kept.splice(0, requestsKept);
  }

  get last(): readonly SimRequest[] {
    return this.kept.slice(-requestsKept);
  }

  clear(): void {
    this.kept.length = 0;
  }
}
