import { Fetcher, NotHad, type Resolve, systemResolve } from './fetcher.ts';
import type { FileSource, NotStored } from './files.ts';
import { Gate } from './gate.ts';
import { type FileLimits, type MediaLimits, mediaLimits } from './limits.ts';

/**
 * Reads files from where vendors keep them: from public hosts, and from the one that the operator
 * named as the vendor's.
 */
export class Copies {
  readonly #fetcher: Fetcher;
  readonly #gate: Gate;
  readonly #writeMs: number;

  constructor(
    limits: FileLimits,
    { redirectsMax, allowPrivate }: Partial<MediaLimits> = {},
    resolve: Resolve = systemResolve,
  ) {
    const downloads = {
      redirectsMax: redirectsMax ?? mediaLimits.redirectsMax,
      allowPrivate: allowPrivate ?? mediaLimits.allowPrivate,
    };
    this.#fetcher = new Fetcher({ ...mediaLimits, ...downloads, idleMs: limits.idleMs }, resolve);
    this.#gate = new Gate(limits.copiesAtOnceMax);
    this.#writeMs = limits.writeMs;
  }

  /**
   * What `take` makes of the bytes, or why there are none. Throws what `take` throws of its own,
   * and when `left` comes.
   */
  async pass<T>(
    source: FileSource,
    left: AbortSignal,
    take: (body: AsyncIterable<Buffer>) => Promise<T>,
  ): Promise<T | NotStored> {
    const { url, headers = {}, home } = source;
    const stop = new AbortController();
    const { signal } = stop;
    const leave = (): void => stop.abort();
    left.addEventListener('abort', leave, { once: true });
    const late = setTimeout(leave, this.#writeMs);
    let begun = false;
    const heard = (body: AsyncIterable<Buffer>): Promise<T> => {
      begun = true;
      return take(unbroken(body));
    };
    try {
      left.throwIfAborted();
      return await this.#gate.pass(signal, () =>
        this.#fetcher.open(url, { signal, headers, take: heard }, originOf(home)),
      );
    } catch (error) {
      left.throwIfAborted();
      // From the first byte on, whatever is not the vendor's fault is the store's.
      if (begun && !(error instanceof NotHad)) throw error;
      return {
        why: 'unreachable',
        detail: error instanceof Error ? error.message : 'it could not be read',
      };
    } finally {
      clearTimeout(late);
      left.removeEventListener('abort', leave);
    }
  }
}

async function* unbroken(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch {
    throw new NotHad('its host broke off.');
  }
}

const originOf = (url: string | undefined): string | undefined =>
  url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined;
