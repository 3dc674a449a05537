import type { Weighted } from './candidate.ts';

/** Lanes remembered at most; the one met first is forgotten. */
export const pacesMax = 10_000;
/** How much one answer says beside all before it. */
const newest = 0.2;

interface Pace {
  /** Milliseconds to the first byte of a stream; 0: none was measured. */
  streamMs: number;
  /** Milliseconds to the end of a whole answer. */
  wholeMs: number;
}

const paceId = ({ pace, id }: Weighted): string => pace ?? id;

/** How fast each candidate has answered lately, as this process has seen it. */
export class Paces {
  readonly #paces = new Map<string, Pace>();

  took(candidate: Weighted, streamed: boolean, ms: number): void {
    const id = paceId(candidate);
    let pace = this.#paces.get(id);
    if (pace === undefined) {
      pace = { streamMs: 0, wholeMs: 0 };
      this.#paces.set(id, pace);
      if (this.#paces.size > pacesMax) this.#forgetOldest();
    }
    const kind = streamed ? 'streamMs' : 'wholeMs';
    pace[kind] =
      pace[kind] === 0 ? Math.max(ms, 1) : Math.max(pace[kind] + newest * (ms - pace[kind]), 1);
  }

  #forgetOldest(): void {
    for (const id of this.#paces.keys()) {
      this.#paces.delete(id);
      return;
    }
  }

  /** Milliseconds; undefined: nothing of the kind was measured. */
  of(candidate: Weighted, streamed: boolean): number | undefined {
    const pace = this.#paces.get(paceId(candidate));
    return (streamed ? pace?.streamMs : pace?.wholeMs) || undefined;
  }

  /** Of those that were measured; Infinity when none was. */
  fastest(candidates: readonly Weighted[], streamed: boolean): number {
    let fastest = Infinity;
    for (const candidate of candidates)
      fastest = Math.min(fastest, this.of(candidate, streamed) ?? Infinity);
    return fastest;
  }
}
