/** Of so many requests that might be asked of a second channel, one may. */
export const requestsPerHedge = 10;
/** What quiet times save up at most. */
export const hedgesSavedMax = 5;
/**
 * Models remembered at most; the one met first is forgotten. Only ids that are sold no more can
 * bring it there.
 */
const modelsMax = 10_000;

/**
 * Who may ask twice. Each model earns its hedges by its requests, so that a vendor that hangs
 * doubles nobody's load: a tenth of what is asked is asked once more, and the rest waits as it
 * would have waited without.
 */
export class HedgeBudget {
  /** In tenths of a hedge. */
  readonly #saved = new Map<string, number>();

  /** One more request that might need one. */
  earn(model: string): void {
    const saved = this.#saved.get(model);
    this.#saved.set(
      model,
      Math.min((saved ?? requestsPerHedge) + 1, hedgesSavedMax * requestsPerHedge),
    );
    if (saved === undefined && this.#saved.size > modelsMax) this.#forgetOldest();
  }

  /** Whether one is left. Then it is spent. */
  spend(model: string): boolean {
    const saved = this.#saved.get(model) ?? 0;
    if (saved < requestsPerHedge) return false;
    this.#saved.set(model, saved - requestsPerHedge);
    return true;
  }

  #forgetOldest(): void {
    for (const model of this.#saved.keys()) {
      this.#saved.delete(model);
      return;
    }
  }
}
