import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ByteRange, byteRange } from '../base/byte-range.ts';
import type { Clock } from '../base/clock.ts';
import { requestId } from '../base/random.ts';
import { Refusal, refusal, refuse } from '../base/refusal.ts';
import { ClientResponse } from '../http/client-response.ts';
import { NodeResponseWriter } from '../http/node-transport.ts';
import { extensionOf } from '../media/content-type.ts';
import { filesPath } from '../media/file-urls.ts';
import type { Files, StoredFile } from '../media/files.ts';
import type { RequestContext } from './endpoint.ts';
import { chatEnvelope, sendRefusal } from './errors.ts';

/**
 * The most files that are sent at the same time, by this process and of one account: each holds a
 * file handle for as long as its client reads.
 */
const readsAtOnceMax = 512;
const accountReadsAtOnceMax = 64;
const retryMs = 1_000;

/** Types that a browser shows without running anything; the others are saved. */
const inlineTypes = /^(?:image\/(?!svg)|audio\/|video\/)/;

/** A request for a file, by its address or by its owner. */
interface Reader extends Pick<RequestContext, 'id' | 'response'> {
  readonly request: Pick<RequestContext['request'], 'method' | 'headers'>;
}

/** Serves stored files. */
export class FileHandler {
  readonly #files: Files;
  readonly #clock: Clock;
  readonly #bug: (id: string, error: unknown) => void;
  readonly #reads = new Map<string, number>();
  #reading = 0;
  #closing = false;
  #empty: (() => void) | undefined;

  constructor(files: Files, clock: Clock, bug: (id: string, error: unknown) => void) {
    this.#files = files;
    this.#clock = clock;
    this.#bug = bug;
  }

  /**
   * Serves files at the addresses that `urlOf` makes. These need no API key, and none is checked.
   */
  openOn(server: FastifyInstance): void {
    server.route({
      method: ['GET', 'HEAD'],
      url: `${filesPath}*`,
      handler: (request, reply) => void this.#serve(request, reply),
    });
  }

  /** Starts no more reads; resolves when all reads have ended, or after `waitMs`. */
  async drain(waitMs: number): Promise<void> {
    this.#closing = true;
    if (this.#reading === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      this.#empty = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #serve(request: FastifyRequest, fastifyReply: FastifyReply): Promise<void> {
    fastifyReply.hijack();
    const id = requestId(this.#clock.now());
    const response = new ClientResponse(new NodeResponseWriter(fastifyReply.raw), [
      'access-control-allow-origin',
      '*',
      'x-request-id',
      id,
    ]);
    try {
      const [path = '', query] = request.url.split('?', 2);
      const file = await this.#files.at(path, new URLSearchParams(query));
      if (file === undefined) refuse('file_not_found');
      await this.send({ id, request, response }, file);
    } catch (error) {
      if (!(error instanceof Refusal)) this.#bug(id, error);
      const why =
        error instanceof Refusal
          ? error
          : refusal('unavailable', { why: 'files cannot be read', id }, retryMs);
      sendRefusal(response, why, chatEnvelope, id);
    }
  }

  /**
   * Sends the file or the requested range, and resolves when the client has it or has left. Throws
   * a Refusal before anything is sent.
   */
  async send(
    { id, request: { method, headers }, response }: Reader,
    file: StoredFile,
  ): Promise<void> {
    if (isKnown(headers['if-none-match'], file)) {
      this.#describe(response, file);
      return response.send(304, undefined);
    }
    const range = isCurrent(headers['if-range'], file)
      ? byteRange(headers.range, file.bytes)
      : 'whole';
    if (range === 'unsatisfiable') {
      response.header('content-range', `bytes */${file.bytes}`);
      refuse('range_not_satisfiable', { length: file.bytes });
    }
    const { first, last } = range === 'whole' ? { first: 0, last: file.bytes - 1 } : range;
    const answer = (body: Parameters<ClientResponse['send']>[1]): Promise<void> => {
      this.#describe(response, file);
      if (range !== 'whole')
        response.header('content-range', `bytes ${first}-${last}/${file.bytes}`);
      response.header('content-type', file.type);
      response.header('content-length', String(last - first + 1));
      return response.send(range === 'whole' ? 200 : 206, body);
    };
    await (method === 'HEAD' ? answer(undefined) : this.#read(id, file, { first, last }, answer));
  }

  async #read(
    id: string,
    file: StoredFile,
    range: ByteRange,
    answer: (body: NonNullable<Parameters<ClientResponse['send']>[1]>) => Promise<void>,
  ) {
    if (this.#closing) refuse('unavailable', { why: 'this node is shutting down', id }, retryMs);
    const { account } = file;
    const reads = this.#reads.get(account) ?? 0;
    if (reads >= accountReadsAtOnceMax)
      refuse('rate_limit_concurrency', { limit: accountReadsAtOnceMax }, retryMs);
    if (this.#reading >= readsAtOnceMax)
      refuse('unavailable', { why: 'too many files are being read', id }, retryMs);
    this.#reading += 1;
    this.#reads.set(account, reads + 1);
    try {
      await answer((await this.#files.read(file, range)) ?? refuse('file_not_found'));
    } finally {
      this.#reading -= 1;
      const left = (this.#reads.get(account) ?? 1) - 1;
      if (left === 0) this.#reads.delete(account);
      else this.#reads.set(account, left);
      if (this.#reading === 0) this.#empty?.();
    }
  }

  /** Sets the headers of every response about a file. */
  #describe(response: ClientResponse, file: StoredFile): void {
    const { id, type, createdAt, expiresAt } = file;
    response.header('accept-ranges', 'bytes');
    response.header('etag', tagOf(file));
    response.header('last-modified', new Date(createdAt).toUTCString());
    // Only the client may cache the file, and not for longer than Tollgate keeps it.
    const seconds = Math.max(0, Math.floor((expiresAt - this.#clock.now()) / 1_000));
    response.header('cache-control', `private, max-age=${seconds}, immutable`);
    // A vendor made the file from a client's prompt: nothing in it may run in this origin.
    response.header('content-security-policy', "sandbox; default-src 'none'");
    response.header('x-content-type-options', 'nosniff');
    response.header(
      'content-disposition',
      `${inlineTypes.test(type) ? 'inline' : 'attachment'}; filename="${id}.${extensionOf(type)}"`,
    );
    response.header('cross-origin-resource-policy', 'cross-origin');
    response.header(
      'access-control-expose-headers',
      'accept-ranges, content-disposition, content-length, content-range, etag, x-request-id',
    );
    response.header('referrer-policy', 'no-referrer');
  }
}

/** A file never changes, so its id is its version. */
const tagOf = ({ id }: StoredFile): string => `"${id}"`;

function isKnown(tags: string | undefined, file: StoredFile): boolean {
  return (
    tags !== undefined &&
    tags.split(',').some((tag) => ['*', tagOf(file)].includes(tag.trim().replace(/^W\//, '')))
  );
}

/** Whether a client that requests a range has the beginning of this very file. */
function isCurrent(condition: string | string[] | undefined, file: StoredFile): boolean {
  return (
    condition === undefined ||
    condition === tagOf(file) ||
    condition === new Date(file.createdAt).toUTCString()
  );
}
