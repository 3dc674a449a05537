import { createHash } from 'node:crypto';

/** The ids of calls as a vendor takes them: of its alphabet, and none for two calls of a conversation. The same request gets the same ids. */
export class CallIds {
  readonly #taken: RegExp;
  readonly #sent = new Map<string, string>();
  readonly #used = new Set<string>();

  constructor(taken: RegExp) {
    this.#taken = taken;
  }

  begin(id: string): string {
    const fit = this.#taken.test(id)
      ? id
      : `call_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`;
    let sent = fit;
    for (let n = 2; this.#used.has(sent); n++)
      sent = `call_${createHash('sha256').update(`${id} ${n}`).digest('hex').slice(0, 24)}`;
    this.#used.add(sent);
    this.#sent.set(id, sent);
    return sent;
  }

  /** The newest call of that id is the one that is answered. */
  of(id: string): string {
    return this.#sent.get(id) ?? this.begin(id);
  }
}
