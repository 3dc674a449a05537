import { parse, rawElements } from './json.ts';
import { type EventListener, eventBytesMax, type Frames } from './sse-frames.ts';

/**
 * A reply that is one JSON value: an answer, or a list of what would have been events. Each is one
 * event, once all of it is there.
 */
export class WholeFrames implements Frames {
  readonly #listener: EventListener;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(listener: EventListener) {
    this.#listener = listener;
  }

  push(piece: Buffer): string | undefined {
    this.#bytes += piece.length;
    if (this.#bytes > 2 * eventBytesMax) return 'an answer that is too long';
    this.#pieces.push(piece);
    return undefined;
  }

  end(): string {
    const text = Buffer.concat(this.#pieces).toString('latin1').trim();
    if (text.startsWith('{')) this.#listener(text, '');
    else if (!text.startsWith('[') || parse(text) === undefined) return text;
    else for (const one of rawElements(text)) if (!this.#listener(one, '')) break;
    return '';
  }
}
