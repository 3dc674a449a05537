/** A request that ends, without a charge for what its client cannot get, when the node stops. */
interface Stoppable {
  stop(): void;
}

/**
 * The requests that go on when their client has left, because it can come again for the answer:
 * those with an Idempotency-Key, and responses in the background. A node that stops ends them
 * itself, since closing their connections does not.
 */
export class UnattendedRequests {
  readonly #running = new Set<Stoppable>();
  /** The node stops: nothing waits any longer for what may never come. */
  stopped = false;

  enter(request: Stoppable): void {
    this.#running.add(request);
    if (this.stopped) request.stop();
  }

  exit(request: Stoppable): void {
    this.#running.delete(request);
  }

  stop(): void {
    this.stopped = true;
    for (const request of this.#running) request.stop();
  }
}
