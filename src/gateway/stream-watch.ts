/** Something that runs long and wants to be looked at about once a second. */
export interface Watched {
  look(): void;
}

const lookEveryMs = 1_000;

/** One timer for all open streams: keep-alive comments and paying for unseen thinking need no timer of their own. */
export class StreamWatch {
  readonly everyMs = lookEveryMs;
  readonly #watched = new Set<Watched>();
  #timer: NodeJS.Timeout | undefined;

  get open(): number {
    return this.#watched.size;
  }

  add(watched: Watched): void {
    this.#watched.add(watched);
    this.#timer ??= setInterval(this.#lookAll, lookEveryMs).unref();
  }

  remove(watched: Watched): void {
    this.#watched.delete(watched);
  }

  readonly #lookAll = (): void => {
    for (const watched of this.#watched) watched.look();
    if (this.#watched.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  };
}
