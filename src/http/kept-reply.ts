import { Reply } from './reply.ts';

/** An answer as it went to the client. */
export interface WholeAnswer {
  readonly contentType: string;
  readonly body: string;
}

/** What is written in pieces is kept up to here; beyond, it is only passed on. */
const keptBytesMax = 64 * 1024 * 1024;

/**
 * A reply whose answer is wanted even when its client leaves: nobody hears of that, and the whole
 * answer is handed over before its last byte goes. An answer that was broken off, or is no success,
 * is not handed over.
 */
export class KeptReply extends Reply {
  /** Whether there was an answer to hand over. */
  handedOver = false;
  readonly #outer: Reply;
  readonly #begin: () => Promise<void>;
  readonly #keep: (answer: WholeAnswer) => Promise<void>;
  #pieces: string[] = [];
  #bytes = 0;
  #finished: Promise<void> = Promise.resolve();

  /**
   * Takes the place of `outer`. `begin`: see Reply. What `keep` throws is lost: the client has paid
   * for the answer and gets it.
   */
  constructor(
    outer: Reply,
    begin: () => Promise<void>,
    keep: (answer: WholeAnswer) => Promise<void>,
  ) {
    super(...outer.parts);
    this.#outer = outer;
    this.#begin = begin;
    this.#keep = keep;
  }

  /** Resolves when the answer has been handed over. */
  get finished(): Promise<void> {
    return this.#finished;
  }

  override get begin(): () => Promise<void> {
    return this.#begin;
  }

  override onLeave(): void {}

  override whole(status: number, contentType: string, body: Buffer | string): void {
    this.#outer.started = true;
    if (status !== 200) return super.whole(status, contentType, body);
    this.#handOver({ contentType, body: body.toString() }, () =>
      super.whole(status, contentType, body),
    );
  }

  override startStream(type?: string): void {
    this.#outer.started = true;
    super.startStream(type);
  }

  override write(bytes: string): boolean {
    this.#take(bytes);
    return super.write(bytes);
  }

  override end(bytes: string): void {
    this.#take(bytes);
    if (this.#bytes > keptBytesMax) return super.end(bytes);
    const body = Buffer.from(this.#pieces.join(''), 'latin1').toString();
    this.#handOver({ contentType: 'text/event-stream; charset=utf-8', body }, () =>
      super.end(bytes),
    );
  }

  override endBroken(bytes: string): void {
    super.end(bytes);
  }

  #take(bytes: string): void {
    this.#bytes += bytes.length;
    if (this.#bytes <= keptBytesMax) this.#pieces.push(bytes);
    else this.#pieces = [];
  }

  #handOver(answer: WholeAnswer, send: () => void): void {
    this.handedOver = true;
    this.#finished = this.#keep(answer)
      .catch(() => undefined)
      .then(send);
  }
}
