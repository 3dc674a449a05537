import { ClientResponse } from '../../src/http/client-response.ts';
import type { ResponseWriter } from '../../src/http/transport.ts';

/** The client's end of one request: what it has been told, byte by byte. */
export class SimulatedClient implements ResponseWriter {
  readonly peer = '192.0.2.1';
  /** 0 while nothing has been said. */
  status = 0;
  body = '';
  /** The last byte is here. */
  complete = false;
  readonly reply: ClientResponse;
  readonly #takes: (taken: () => void) => boolean;
  readonly #completed: () => void;
  #gone = false;
  #room = true;
  #closed: ((complete: boolean) => void)[] = [];
  #drained: (() => void) | undefined;

  /**
   * `takes`: false where the client takes its time; then it calls its argument when it has.
   * `completed`: the last byte has come.
   */
  constructor(id: string, takes: (taken: () => void) => boolean, completed: () => void) {
    this.#takes = takes;
    this.#completed = completed;
    this.reply = new ClientResponse(this, ['x-request-id', id]);
  }

  onClosed(closed: (complete: boolean) => void): void {
    this.#closed.push(closed);
  }

  whole(status: number, _headers: readonly string[], body: Buffer | string): void {
    this.head(status);
    this.end(body.toString());
  }

  head(status: number): void {
    if (this.status !== 0) throw new Error('an answer begins once');
    this.status = status;
  }

  write(text: string): boolean {
    this.#hear(text);
    this.#room &&= this.#takes(() => {
      this.#room = true;
      const drained = this.#drained;
      this.#drained = undefined;
      drained?.();
    });
    return this.#room;
  }

  onDrain(go: () => void): void {
    this.#drained = go;
  }

  end(text: string): void {
    this.#hear(text);
    if (this.#gone) return;
    this.complete = true;
    this.#completed();
    this.#close(true);
  }

  #hear(text: string): void {
    if (this.complete) throw new Error('something comes after the last byte');
    if (!this.#gone) this.body += text;
  }

  send(): Promise<void> {
    throw new Error('no chat is answered with a file');
  }

  limitRemainingTime(): void {}

  breakAfter(text: string): void {
    this.#hear(text);
    this.destroy();
  }

  /** The connection breaks. */
  destroy(): void {
    this.#gone = true;
    this.#close(false);
  }

  #close(complete: boolean): void {
    const closed = this.#closed;
    this.#closed = [];
    for (const tell of closed) tell(complete);
  }

  /** It hears no more: everything was said, or its connection is broken. */
  get isOver(): boolean {
    return this.complete || this.#gone;
  }

  /** It was answered, and nothing is missing: a stream has the mark of its end. */
  get isWhole(): boolean {
    return (
      this.complete &&
      this.status === 200 &&
      (this.body.startsWith('{') || this.body.endsWith('data: [DONE]\n\n'))
    );
  }

  /** What the model said, as this client has read it. */
  get text(): string {
    if (this.body.startsWith('{')) return contentOf(this.body, 'message');
    const events = this.body.split('\n\n').filter((event) => event.startsWith('data: {'));
    return events.map((event) => contentOf(event.slice(6), 'delta')).join('');
  }
}

function contentOf(json: string, where: 'message' | 'delta'): string {
  const { choices }: { choices?: { [name: string]: unknown }[] } = JSON.parse(json);
  const said = choices?.[0]?.[where];
  return typeof said === 'object' &&
    said !== null &&
    'content' in said &&
    typeof said.content === 'string'
    ? said.content
    : '';
}
