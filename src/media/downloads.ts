import { setMaxListeners } from 'node:events';
import { AccountSemaphore, Semaphore } from '../base/semaphore.ts';
import { errorCodeOf, messageOf } from '../base/thrown.ts';
import { contentType, type MediumKind, typeMismatch } from './content-type.ts';
import {
  type Budget,
  type Fetched,
  Fetcher,
  FetchFailed,
  type Resolve,
  systemResolve,
} from './fetcher.ts';
import type { FileSource, NotStored } from './files.ts';
import { type MediaLimits, type FileLimits, mediaLimits } from './limits.ts';

export interface WantedMedium {
  readonly url: string;
  readonly kind: MediumKind;
}

/** A downloaded file. `type` comes from its bytes, whatever the server declared. */
export interface DownloadedMedium {
  readonly type: string;
  readonly base64: string;
}

/**
 * An address that could not be downloaded, and why: the end of a sentence that the client reads.
 */
export interface DownloadFailure {
  readonly url: string;
  readonly why: string;
}

export const isDownloadFailure = (
  result: ReadonlyMap<string, DownloadedMedium> | DownloadFailure,
): result is DownloadFailure => 'why' in result;

/**
 * A lookup takes one of the threads that look up names in a process, and cannot be cancelled. A
 * name server that does not answer holds it for long after its request is over. `bin/tollgate.js`
 * makes four such threads: clients have two, and vendors' names are looked up in the others.
 */
const lookupsMax = 2;

/**
 * Downloads media that clients give by address: from public hosts only, within limits, never twice
 * for one request. A host that does not answer holds a place for long: one account has at most half
 * of them.
 */
export class Downloads {
  readonly #limits: MediaLimits;
  readonly #resolve: Resolve;
  readonly #lookups = new AccountSemaphore(lookupsMax, lookupsMax / 2);
  readonly #gate: AccountSemaphore;

  constructor(limits: MediaLimits, resolve: Resolve = systemResolve) {
    this.#limits = limits;
    this.#resolve = resolve;
    this.#gate = new AccountSemaphore(limits.atOnceMax, Math.ceil(limits.atOnceMax / 2));
  }

  /**
   * Downloads everything that one request of the account wants, by address; returns the first
   * failure instead if there is one. `left` ends the downloads early.
   */
  async all(
    account: string,
    wanted: readonly WantedMedium[],
    left: AbortSignal,
  ): Promise<ReadonlyMap<string, DownloadedMedium> | DownloadFailure> {
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
    const leave = (): void => stop.abort(new FetchFailed('the client left.'));
    left.addEventListener('abort', leave, { once: true });
    const late = setTimeout(
      () => stop.abort(new FetchFailed(`it took longer than ${totalMs / 1_000} seconds.`)),
      totalMs,
    );
    const budget: Budget = { bytes: requestBytesMax };
    const had = new Map<string, DownloadedMedium>();
    const fetcher = new Fetcher(this.#limits, (host, signal) =>
      this.#lookups.run(account, signal, () => this.#resolve(host, signal)),
    );
    let failed: DownloadFailure | undefined;
    const one = async (url: string): Promise<void> => {
      try {
        const read = () => fetcher.fetch(url, stop.signal, budget);
        had.set(url, asWanted(url, wanted, await this.#gate.run(account, stop.signal, read)));
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
}

/** What an address gave, as the request wants it. */
function asWanted(
  url: string,
  wanted: readonly WantedMedium[],
  { bytes, path }: Fetched,
): DownloadedMedium {
  const type = contentType(bytes, path);
  for (const { kind, url: of } of wanted) {
    const why = of === url ? typeMismatch(kind, type) : undefined;
    if (why !== undefined) throw new FetchFailed(`${why}.`);
  }
  return { type: type ?? '', base64: bytes.toString('base64') };
}

const timeouts = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);

/**
 * The reason that the client gets. A connection's own error may name hosts inside the operator's
 * network, and is not repeated.
 */
function whyOf(error: unknown, signal: AbortSignal): string {
  if (error instanceof FetchFailed) return error.message;
  if (signal.reason instanceof FetchFailed) return signal.reason.message;
  if (timeouts.has(errorCodeOf(error) ?? '')) return 'its host did not answer in time.';
  return 'its host could not be reached, or broke off.';
}

/**
 * Reads files that vendors keep: from public hosts, and from the one that the operator named as the
 * vendor's.
 */
export class VendorDownloads {
  readonly #fetcher: Fetcher;
  readonly #gate: Semaphore;
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
    this.#gate = new Semaphore(limits.copiesAtOnceMax);
    this.#writeMs = limits.writeMs;
  }

  /**
   * Passes the bytes to `take` and returns its result, or why there are no bytes. Throws the errors
   * of `take`, and when `left` comes.
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
    const onBody = (body: AsyncIterable<Buffer>): Promise<T> => {
      begun = true;
      return take(unbroken(body));
    };
    try {
      left.throwIfAborted();
      return await this.#gate.run(signal, () =>
        this.#fetcher.open(url, { signal, headers, take: onBody }, originOf(home)),
      );
    } catch (error) {
      left.throwIfAborted();
      // After the first byte, an error that is not the vendor's is the store's.
      if (begun && !(error instanceof FetchFailed)) throw error;
      return {
        why: 'unreachable',
        detail: messageOf(error),
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
    throw new FetchFailed('its host broke off.');
  }
}

const originOf = (url: string | undefined): string | undefined =>
  url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined;
