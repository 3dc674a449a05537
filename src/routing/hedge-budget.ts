import { deleteOldest } from '../base/delete-oldest.ts';

/** One hedge is allowed for this many requests that could be hedged. */
export const requestsPerHedge = 10;
/** The most hedges that a quiet time saves up. */
export const hedgesSavedMax = 5;
/**
 * The most models remembered; the oldest is forgotten first. Only ids that are no longer sold can
 * fill it up.
 */
const modelsMax = 10_000;

/**
 * Decides which requests may call a second channel. Each model earns its hedges by its requests, so
 * that a hanging vendor cannot double the load: a tenth of the requests get a second call, and the
 * rest wait as they would without hedging.
 */
export class HedgeBudget {
  /** Counted in tenths of a hedge. */
  readonly #saved = new Map<string, number>();

  /** Counts one more request that might need a hedge. */
  earn(model: string): void {
    const saved = this.#saved.get(model);
    this.#saved.set(
      model,
      Math.min((saved ?? requestsPerHedge) + 1, hedgesSavedMax * requestsPerHedge),
    );
    if (saved === undefined && this.#saved.size > modelsMax) deleteOldest(this.#saved);
  }

  /** Spends one hedge, if one is left; returns whether it did. */
  spend(model: string): boolean {
    const saved = this.#saved.get(model) ?? 0;
    if (saved < requestsPerHedge) return false;
    this.#saved.set(model, saved - requestsPerHedge);
    return true;
  }
}
