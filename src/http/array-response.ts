import { ClientResponse } from './client-response.ts';

const eventEnd = '\n\n';
const eventHead = 'data: ';

/**
 * Writes a stream of events as one JSON array whose elements are the events' data, for clients that
 * read no events.
 */
export class ArrayResponse extends ClientResponse {
  #begun = false;

  /** Takes the place of `outer`. */
  constructor(outer: ClientResponse) {
    super(...outer.parts);
  }

  override startStream(): void {
    super.startStream('application/json; charset=UTF-8');
  }

  override write(bytes: string): boolean {
    return super.write(this.#elements(bytes));
  }

  override end(bytes: string): void {
    super.end(this.#last(bytes));
  }

  override endBroken(bytes: string): void {
    super.end(this.#last(bytes));
  }

  override breakAfter(bytes: string): void {
    super.breakAfter(this.#last(bytes));
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
