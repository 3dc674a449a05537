import type { Bytes } from '../base/json.ts';
import { ClientResponse } from './client-response.ts';

const eventEnd = '\n\n';
const eventHead = 'data: ';

/**
 * Writes a stream of events as one JSON array whose elements are the events' data, for clients that
 * read no events.
 */
export class ArrayResponse extends ClientResponse {
  readonly #outer: ClientResponse;
  #begun = false;

  /** Takes the place of `outer`, which gets what is written: it may record it. */
  constructor(outer: ClientResponse) {
    super(...outer.parts);
    this.#outer = outer;
  }

  override get beforeAttempts(): (() => Promise<void>) | undefined {
    return this.#outer.beforeAttempts;
  }

  override onLeave(leave: (() => void) | undefined): void {
    this.#outer.onLeave(leave);
  }

  override whole(status: number, contentType: string, body: Bytes | string): void {
    this.#outer.whole(status, contentType, body);
  }

  override startStream(): void {
    this.#outer.startStream('application/json; charset=UTF-8');
  }

  override write(bytes: string): boolean {
    return this.#outer.write(this.#elements(bytes));
  }

  override end(bytes: string): void {
    this.#outer.end(this.#last(bytes));
  }

  override endBroken(bytes: string): void {
    this.#outer.endBroken(this.#last(bytes));
  }

  override breakAfter(bytes: string): void {
    this.#outer.breakAfter(this.#last(bytes));
  }

  #last(bytes: string): string {
    const elements = this.#elements(bytes);
    return this.#begun ? `${elements}\n]` : '[]';
  }

  /** `events` are whole. */
  #elements(events: string): string {
    let out = '';
    for (const event of events.split(eventEnd)) {
      if (!event.startsWith(eventHead)) continue;
      out += (this.#begun ? '\n,\n' : '[') + event.slice(eventHead.length);
      this.#begun = true;
    }
    return out;
  }
}
