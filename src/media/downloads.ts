import { setMaxListeners } from 'node:events';
import { contentType, type MediumKind, mismatch } from './content-type.ts';
import { type Budget, Fetcher, NotHad, type Resolve, systemResolve } from './fetcher.ts';
import { Gate } from './gate.ts';
import type { MediaLimits } from './limits.ts';

export interface WantedMedium {
  readonly url: string;
  readonly kind: MediumKind;
}

/** What an address gave. `type` is what the bytes are, whatever the server called them. */
export interface Content {
  readonly type: string;
  readonly base64: string;
}

/** An address that could not be had, and why: the end of a sentence that the client reads. */
export interface Failed {
  readonly url: string;
  readonly why: string;
}

export const isFailed = (result: ReadonlyMap<string, Content> | Failed): result is Failed =>
  'why' in result;

/**
 * Downloads what clients refer to by address: from public hosts only, within limits, never twice
 * for one request.
 */
export class Downloads {
  readonly #limits: MediaLimits;
  readonly #fetcher: Fetcher;
  readonly #gate: Gate;

  constructor(limits: MediaLimits, resolve: Resolve = systemResolve) {
    this.#limits = limits;
    this.#fetcher = new Fetcher(limits, resolve);
    this.#gate = new Gate(limits.atOnceMax);
  }

  /**
   * Everything that one request wants, by address, or the first of it that cannot be had. `left`
   * ends it early.
   */
  async all(
    wanted: readonly WantedMedium[],
    left: AbortSignal,
  ): Promise<ReadonlyMap<string, Content> | Failed> {
    const { urlsMax, requestBytesMax, totalMs } = this.#limits;
    const urls = [...new Set(wanted.map(({ url }) => url))];
    const beyond = urls[urlsMax];
    if (beyond !== undefined)
      return {
        url: beyond,
        why: `at most ${urlsMax} addresses can be downloaded for one request.`,
      };
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const leave = (): void => stop.abort(new NotHad('the client left.'));
    left.addEventListener('abort', leave, { once: true });
    const late = setTimeout(
      () => stop.abort(new NotHad(`it took longer than ${totalMs / 1_000} seconds.`)),
      totalMs,
    );
    const budget: Budget = { bytes: requestBytesMax };
    const had = new Map<string, Content>();
    let failed: Failed | undefined;
    const one = async (url: string): Promise<void> => {
      try {
        had.set(
          url,
          await this.#gate.pass(stop.signal, () => this.#one(url, wanted, stop.signal, budget)),
        );
      } catch (error) {
        failed ??= { url, why: `it could not be downloaded: ${whyOf(error, stop.signal)}` };
        stop.abort();
      }
    };
    await Promise.all(urls.map(one));
    clearTimeout(late);
    left.removeEventListener('abort', leave);
    return failed ?? had;
  }

  async #one(
    url: string,
    wanted: readonly WantedMedium[],
    signal: AbortSignal,
    budget: Budget,
  ): Promise<Content> {
    const { bytes, path } = await this.#fetcher.fetch(url, signal, budget);
    const type = contentType(bytes, path);
    for (const { kind, url: of } of wanted) {
      const why = of === url ? mismatch(kind, type) : undefined;
      if (why !== undefined) throw new NotHad(`${why}.`);
    }
    return { type: type ?? '', base64: bytes.toString('base64') };
  }
}

const timeouts = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);

/**
 * What a client is told. A connection's own error may name what is inside our network, and is not
 * repeated.
 */
function whyOf(error: unknown, signal: AbortSignal): string {
  if (error instanceof NotHad) return error.message;
  if (signal.reason instanceof NotHad) return signal.reason.message;
  if (error instanceof Error && 'code' in error && timeouts.has(String(error.code)))
    return 'its host did not answer in time.';
  return 'its host could not be reached, or broke off.';
}
