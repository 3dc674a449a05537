import { connect, type Socket } from 'node:net';
import { word } from './vendor.ts';

/**
 * Kept connections that work in step: all of them send, and all have a response before any sends
 * again.
 */
export interface Choir {
  /** Sends one request on each, and reads the whole response. */
  ask(next: () => string): Promise<void>;
  /** The time until each of these responses, ms. */
  readonly waits: readonly number[];
  /** Opens a stream on each, or on those from `from` to before `to`. */
  begin(next: () => string, from?: number, to?: number): void;
  /** Resolves when all streams together have received that many further words. */
  words(heard: number): Promise<void>;
  ended(): Promise<void>;
  close(): void;
}

const end = '\r\n0\r\n\r\n';
/** The kept tail of a stream: a word or the end may arrive in two pieces. */
const keptLength = 16;
/** Fewer than the queue of a listening server. */
const connectedAtOnce = 250;

/** Everything that all connections have received. */
class Hall {
  words = 0;
  over = 0;
  #isSo = (): boolean => true;
  #done = (): void => undefined;
  #failed: (error: Error) => void = () => undefined;

  until(isSo: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      [this.#isSo, this.#done, this.#failed] = [isSo, resolve, reject];
      this.look();
    });
  }

  look(): void {
    if (this.#isSo()) this.#done();
  }

  fail(error: Error): void {
    this.#failed(error);
  }
}

class Voice {
  readonly socket: Socket;
  readonly #hall: Hall;
  /** The header and the body after it; of a stream, its tail. */
  #text = '';
  #streams = false;
  #length = 0;
  askedMs = 0;
  overMs = 0;

  constructor(port: number, hall: Hall) {
    this.#hall = hall;
    this.socket = connect(port, '127.0.0.1');
    this.socket.setNoDelay(true);
    this.socket.on('data', (bytes) => this.#hear(bytes.toString('latin1')));
    this.socket.on('error', (error) => hall.fail(error));
    this.socket.on('close', () => hall.fail(new Error('a connection was closed')));
  }

  ask(request: string): void {
    this.#text = '';
    this.#length = 0;
    this.#streams = false;
    this.askedMs = performance.now();
    this.socket.write(request, 'latin1');
  }

  #hear(text: string): void {
    const before = this.#text.length;
    this.#text += text;
    if (this.#length === 0 && !this.#streams && !this.#readHead()) return;
    if (this.#streams) this.#count(Math.max(0, before - word.length + 1));
    const isOver = this.#streams ? this.#text.endsWith(end) : this.#text.length >= this.#length;
    if (isOver) {
      this.overMs = performance.now();
      this.#hall.over++;
    }
    this.#hall.look();
  }

  #readHead(): boolean {
    const length = this.#text.indexOf('\r\n\r\n');
    if (length < 0) return false;
    const head = this.#text.slice(0, length);
    if (!head.startsWith('HTTP/1.1 200')) this.#hall.fail(new Error(this.#text));
    this.#streams = /\r\ntransfer-encoding: chunked/i.test(head);
    this.#length = length + 4 + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    return true;
  }

  #count(from: number): void {
    for (let at = this.#text.indexOf(word, from); at >= 0; at = this.#text.indexOf(word, at + 1))
      this.#hall.words++;
    this.#text = this.#text.slice(-keptLength);
  }
}

export async function choir(port: number, size: number): Promise<Choir> {
  const hall = new Hall();
  const waits: number[] = [];
  const voices: Voice[] = [];
  while (voices.length < size) {
    const some = Array.from(
      { length: Math.min(connectedAtOnce, size - voices.length) },
      () => new Voice(port, hall),
    );
    await Promise.all(
      some.map(
        ({ socket }) =>
          new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject)),
      ),
    );
    voices.push(...some);
  }
  const begin = (next: () => string, from = 0, to = size): void => {
    if (from === 0) [hall.words, hall.over] = [0, 0];
    for (const voice of voices.slice(from, to)) voice.ask(next());
  };
  const ended = (): Promise<void> => hall.until(() => hall.over === size);
  return {
    waits,
    async ask(next) {
      begin(next);
      await ended();
      for (const { askedMs, overMs } of voices) waits.push(overMs - askedMs);
    },
    begin,
    words: (heard) => hall.until(() => hall.words >= heard),
    ended,
    close: () => voices.forEach(({ socket }) => socket.destroy()),
  };
}
