import type { Readable } from 'node:stream';
import type { Wire } from './wire.ts';

/**
 * A wire with nobody at its end, for work that goes on without its client: what is written is
 * dropped.
 */
export class Unheard implements Wire {
  readonly peer = undefined;
  #closed: ((complete: boolean) => void)[] = [];

  onClosed(closed: (complete: boolean) => void): void {
    this.#closed.push(closed);
  }

  whole(): void {
    this.#close(true);
  }

  head(): void {}

  write(): boolean {
    return true;
  }

  onDrain(): void {}

  end(): void {
    this.#close(true);
  }

  send(body: Readable): Promise<void> {
    body.destroy();
    this.#close(true);
    return Promise.resolve();
  }

  limitTheRest(): void {}

  /** As if a client had left. */
  destroy(): void {
    this.#close(false);
  }

  #close(complete: boolean): void {
    const closed = this.#closed;
    this.#closed = [];
    for (const tell of closed) tell(complete);
  }
}
