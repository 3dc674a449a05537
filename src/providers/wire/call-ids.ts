import { createHash } from 'node:crypto';

/** A call's id as it is sent, and whether a result has named it. */
interface Begun {
  readonly sent: string;
  answered: boolean;
}

/**
 * The ids of calls as a vendor takes them: of its alphabet, and none for two calls of a
 * conversation. The same request gets the same ids.
 */
export class CallIds {
  readonly #taken: RegExp;
  readonly #begun = new Map<string, Begun[]>();
  readonly #used = new Set<string>();

  constructor(taken: RegExp) {
    this.#taken = taken;
  }

  begin(id: string): string {
    let sent = fittingId(id, this.#taken);
    for (let n = 2; this.#used.has(sent); n++) sent = hashed(`${id} ${n}`);
    this.#used.add(sent);
    const open = (this.#begun.get(id) ?? []).filter(({ answered }) => !answered);
    this.#begun.set(id, [...open, { sent, answered: false }]);
    return sent;
  }

  /** The oldest call of that id without a result is the one that is answered. */
  of(id: string): string {
    const begun = this.#begun.get(id);
    const call = begun?.find(({ answered }) => !answered) ?? begun?.at(-1);
    if (call === undefined) return this.begin(id);
    call.answered = true;
    return call.sent;
  }
}

const hashed = (text: string): string =>
  `call_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;

/** An id in the alphabet that the vendor takes: the same for the same id, on every request. */
export const fittingId = (id: string, taken: RegExp): string => (taken.test(id) ? id : hashed(id));
