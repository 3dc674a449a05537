import { createHmac, timingSafeEqual } from 'node:crypto';
import { extensionOf } from './content-type.ts';
import type { StoredFile } from './files.ts';

/** The path of files below the public address. */
export const filesPath = '/files/';

/** A path as `urlOf` writes it: the id, and an extension for clients that save the file. */
const named = /^\/files\/(file_[A-Za-z0-9]{32})\.[a-z0-9]{1,5}$/;
/**
 * A host and perhaps a port, and nothing that could begin a path, a user's name or another line.
 */
const plainHost = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** Makes signed addresses, each of which opens one file until it expires. */
export class FileUrls {
  readonly #key: Buffer;
  readonly #publicUrl: string | undefined;

  /**
   * `key`: 32 bytes of this purpose alone. `publicUrl`: the gateway's public address, without `/`
   * at its end; undefined: the host that the client used.
   */
  constructor(key: Buffer, publicUrl: string | undefined) {
    this.#key = key;
    this.#publicUrl = publicUrl;
  }

  /** An absolute URL. A Host header that is no host gives only a path, which leads nowhere else. */
  of(
    { id, type, expiresAt }: Pick<StoredFile, 'id' | 'type' | 'expiresAt'>,
    host: string | undefined,
  ): string {
    const path = `${filesPath}${id}.${extensionOf(type)}`;
    const expires = String(Math.floor(expiresAt / 1_000));
    return `${this.base(host)}${path}?expires=${expires}&signature=${this.#sign(path, expires).toString('base64url')}`;
  }

  /** The id that the address stands for; undefined when it was not made here, or has expired. */
  read(path: string, query: URLSearchParams, now: number): string | undefined {
    const expires = query.get('expires') ?? '';
    const given = Buffer.from(query.get('signature') ?? '', 'base64url');
    const right = this.#sign(path, expires);
    if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined;
    return Number(expires) * 1_000 > now ? named.exec(path)?.[1] : undefined;
  }

  #sign(path: string, expires: string): Buffer {
    return createHmac('sha256', this.#key).update(`${path}\n${expires}`).digest();
  }

  /** The gateway's address, without `/` at its end. */
  base(host: string | undefined): string {
    if (this.#publicUrl !== undefined) return this.#publicUrl;
    return host !== undefined && plainHost.test(host) ? `http://${host}` : '';
  }
}
