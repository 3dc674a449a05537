import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../base/clock.ts';
import { allowHalfClosed, watchHalfClosed } from './half-close.ts';
import { LaneConnection } from './lane-connection.ts';
import type { PlainRequest } from './plain-request.ts';
import { httpDates } from './response-head.ts';
import type { Wire } from './wire.ts';

/** Longer bodies are read by node:http: they cost more than it does. */
const laneBytesMax = 65_536;
const lookMs = 5_000;

/** What the connections of a lane share. */
export interface LaneTerms {
  readonly paths: ReadonlyMap<string, unknown>;
  readonly bodyBytesMax: number;
  /**
   * Looks, each `lookMs` after the one before, that a connection without a request stays open for.
   */
  readonly idleLooks: number;
  readonly closing: boolean;
  /** What has come of requests that are not there whole, of all connections. */
  keptBytes: number;
  /** The part of a head that every answer has. */
  always(): string;
  serve(request: PlainRequest, wire: Wire): void;
  /** Somebody else reads the connection from here on, whose next bytes these are. */
  handOver(connection: LaneConnection, socket: Socket, bytes: Buffer): void;
  gone(connection: LaneConnection): void;
}

export interface LaneOptions {
  readonly paths: ReadonlyMap<string, unknown>;
  readonly clock: Clock;
  readonly keepAliveTimeoutMs: number;
  readonly bodyBytesMax: number;
  serve(request: PlainRequest, wire: Wire): void;
}

/**
 * The way in of nearly all requests: connections begin here, and requests that came whole and plain
 * are read and answered without node:http, whose objects and events for each of them cost as much
 * as all that the gateway does. The first request that is anything else takes its connection with
 * it to node:http, as if it had been there from the start.
 */
export class Lane implements LaneTerms {
  readonly paths: ReadonlyMap<string, unknown>;
  readonly bodyBytesMax: number;
  readonly idleLooks: number;
  readonly serve: LaneOptions['serve'];
  closing = false;
  keptBytes = 0;
  readonly #kept: () => string;
  readonly #last: () => string;
  readonly #server: Server;
  readonly #framework: (this: Server, socket: Socket) => void;
  readonly #connections = new Set<LaneConnection>();
  readonly #looking: NodeJS.Timeout;

  /** Puts itself before `server`'s own reading. */
  constructor(
    server: Server,
    { paths, clock, keepAliveTimeoutMs, bodyBytesMax, serve }: LaneOptions,
  ) {
    this.paths = paths;
    this.serve = serve;
    // The first look may follow an answer at once; what was promised to the client is kept.
    this.idleLooks = Math.ceil(keepAliveTimeoutMs / lookMs) + 1;
    this.bodyBytesMax = Math.min(bodyBytesMax, laneBytesMax);
    this.#kept = httpDates(
      clock,
      `connection: keep-alive\r\nkeep-alive: timeout=${Math.floor(keepAliveTimeoutMs / 1_000)}\r\n`,
    );
    this.#last = httpDates(clock, 'connection: close\r\n');
    this.#server = server;
    const [framework] = server.listeners('connection');
    if (framework === undefined) throw new Error('node:http listens to its server');
    this.#framework = framework as (this: Server, socket: Socket) => void;
    allowHalfClosed(server);
    server
      .removeAllListeners('connection')
      .on('connection', (socket: Socket) => this.#begin(socket));
    this.#looking = setInterval(() => this.#look(), lookMs).unref();
  }

  #begin(socket: Socket): void {
    // Nobody would look after it any more.
    if (this.closing) socket.destroy();
    else this.#connections.add(new LaneConnection(socket, this));
  }

  always(): string {
    return this.closing ? this.#last() : this.#kept();
  }

  #look(): void {
    for (const connection of this.#connections) connection.look();
  }

  handOver(connection: LaneConnection, socket: Socket, bytes: Buffer): void {
    this.#connections.delete(connection);
    socket.pause();
    socket.unshift(bytes);
    watchHalfClosed(socket);
    this.#framework.call(this.#server, socket);
    process.nextTick(() => socket.resume());
  }

  gone(connection: LaneConnection): void {
    this.#connections.delete(connection);
  }

  /**
   * Requests that have begun to come are read by node:http, which tells of them before their bodies
   * are there.
   */
  handOverPartial(): void {
    for (const connection of this.#connections) connection.handOverPartial();
  }

  /** Every connection ends with the answer that it is waiting for, at once if there is none. */
  close(): void {
    this.closing = true;
    clearInterval(this.#looking);
    for (const connection of this.#connections) connection.closeWhenIdle();
  }

  /** Nobody is waited for. */
  closeAll(): void {
    this.close();
    for (const connection of this.#connections) connection.destroy();
  }
}
