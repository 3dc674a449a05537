import { createHash } from 'node:crypto';

/** A call's id as the vendor gets it, and whether a result has referred to it. */
interface Begun {
  readonly sent: string;
  answered: boolean;
}

/**
 * Maps call ids to ids that a vendor accepts: in its alphabet, and unique in the conversation. The
 * same request always gets the same ids.
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

  /** The sent id for a result: that of the oldest call of this id without a result. */
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

/**
 * The id if the vendor accepts it, else a hash of it: the same for the same id in every request.
 */
export const fittingId = (id: string, taken: RegExp): string => (taken.test(id) ? id : hashed(id));
