import { randomBytes } from 'node:crypto';

const codeLifeMs = 10 * 60_000;
const keptMax = 10_000;

/** Codes that work once within ten minutes, each with its grant. */
export class Codes<Grant> {
  readonly #now: () => number;
  readonly #grants = new Map<
    string,
    { readonly grant: Grant; readonly until: number; used: boolean }
  >();

  constructor(now: () => number) {
    this.#now = now;
  }

  issue(grant: Grant): string {
    const code = randomBytes(10).toString('hex');
    for (const old of this.#grants.keys())
      if (this.#grants.size >= keptMax) this.#grants.delete(old);
    this.#grants.set(code, { grant, until: this.#now() + codeLifeMs, used: false });
    return code;
  }

  redeem(code: string): Grant | 'unknown' | 'used' {
    const found = this.#grants.get(code);
    if (found === undefined || found.until <= this.#now()) return 'unknown';
    if (found.used) return 'used';
    found.used = true;
    return found.grant;
  }
}
