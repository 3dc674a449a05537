import { pause, type Timers } from '../base/clock.ts';
import { isObject, jsonText, latin1Of, parse, utf8 } from '../base/json.ts';
import { refuse } from '../base/refusal.ts';
import type { GatewayLimits } from '../gateway/parts.ts';
import { ClientResponse } from '../http/client-response.ts';
import type { ResponseStore, StoredEvents, StoredResponse } from '../memory/responses.ts';

const eventEnd = '\n\n';

/**
 * The events of a response in the background, for the client that asked for it and for the store.
 * They go on when the client leaves.
 */
export class BackgroundStream extends ClientResponse {
  readonly #client: ClientResponse;
  readonly #save: (events: StoredEvents) => Promise<void>;
  /** The events that are not stored yet, as latin1. */
  #unstored = '';
  #part = 1;
  #saving: Promise<void> | undefined;
  #isClosed = false;
  #stopped = false;
  #leave: (() => void) | undefined;
  /** The event that says why the stream was broken off. */
  brokenBy: string | undefined;

  /** Takes the place of `client`, who has no id of the response before its first event. */
  constructor(client: ClientResponse, save: (events: StoredEvents) => Promise<void>) {
    super(...client.parts);
    this.#client = client;
    this.#save = save;
    client.onLeave(() => this.stop());
  }

  /** Ends the request, as a client does that leaves. */
  stop(): void {
    this.#stopped = true;
    this.#leave?.();
  }

  override onLeave(leave: (() => void) | undefined): void {
    this.#leave = leave;
    if (this.#stopped) leave?.();
  }

  override get stalled(): boolean {
    return this.#client.stalled;
  }

  override onDrain(go: () => void): void {
    this.#client.onDrain(() => {
      this.drains = this.#client.drains;
      go();
    });
  }

  override startStream(): void {
    this.#client.startStream();
  }

  override write(bytes: string): boolean {
    // A comment keeps the connection open, and tells nothing.
    if (!bytes.startsWith(':')) {
      this.#unstored += bytes;
      this.#client.onLeave(undefined);
    }
    return this.#client.write(bytes);
  }

  /** The last events are stored with the end of the response (`close`). */
  override end(bytes: string): void {
    this.#client.end(bytes);
  }

  override endBroken(bytes: string): void {
    this.brokenBy = bytes;
    this.#client.endBroken(bytes);
  }

  override destroy(): void {
    this.#client.destroy();
  }

  /** For a response that was cancelled: its stream has no last event. */
  endCancelled(): void {
    this.#client.startStream();
    this.#client.endBroken('');
  }

  /** Stores the whole events so far. Tries again with the next call where the database is away. */
  async store(): Promise<void> {
    if (this.#isClosed) return;
    await (this.#saving ??= this.#saveNext());
  }

  async #saveNext(): Promise<void> {
    try {
      const whole = this.#unstored.lastIndexOf(eventEnd) + eventEnd.length;
      if (whole < eventEnd.length) return;
      await this.#save({ part: this.#part, events: utf8(this.#unstored.slice(0, whole)) });
      this.#part++;
      this.#unstored = this.#unstored.slice(whole);
    } finally {
      this.#saving = undefined;
    }
  }

  /** The events that are to be stored with the end of the response, `last` (latin1) among them. */
  async close(last: string): Promise<StoredEvents> {
    this.#isClosed = true;
    await this.#saving?.catch(() => undefined);
    return { part: this.#part, events: utf8(this.#unstored + last) };
  }
}

/** How often stored events are looked for. Their runner stores them every two seconds. */
const lookEveryMs = 1_000;
/** A client that is behind gets the next piece once it has room again. */
const pieceBytes = 65_536;

interface EventSource {
  readonly store: ResponseStore;
  readonly timers: Timers;
  readonly limits: Pick<GatewayLimits, 'keepAliveMs' | 'stalledMs'>;
}

/**
 * GET /v1/responses/{id}?stream=true: the events of a response in the background, from the one
 * behind `startingAfter`, whichever node runs it. Resolves when it has ended or the client has left.
 */
export async function sendStoredEvents(
  source: EventSource,
  account: string,
  found: StoredResponse,
  { startingAfter, client }: { readonly startingAfter: number; readonly client: ClientResponse },
): Promise<void> {
  const { id } = found;
  const { store, timers, limits } = source;
  const reader = new EventReader(startingAfter);
  let response: StoredResponse | undefined = found;
  // The head leaves with the first bytes: a client that waits for the next event gets it at once.
  for (
    let silentMs = limits.keepAliveMs;
    response !== undefined && !client.closed;
    silentMs += lookEveryMs
  ) {
    // They are read after the response: the events of one that has ended are all there.
    const stored = await store.events(id, reader.part);
    if (stored.length === 0 && reader.part === 0)
      refuse('invalid_value', {
        param: 'stream',
        why: 'only a response that was created with `background` and `stream` has events.',
      });
    client.startStream();
    const text = stored.map((part) => reader.next(part)).join('');
    const hasEnded = response.status !== 'queued' && response.status !== 'in_progress';
    if (hasEnded) return client.end(text + reader.end(response));
    if (text !== '' || silentMs >= limits.keepAliveMs) {
      silentMs = 0;
      await write(text === '' ? ': keep-alive\n\n' : text, client, source);
    }
    await pause(timers, lookEveryMs);
    // Its input may be megabytes.
    if (!(await store.isRunning(account, id))) response = await store.find(account, id);
  }
  client.endBroken('');
}

/** A client that reads nothing for long loses its connection. */
async function write(
  text: string,
  client: ClientResponse,
  { timers, limits }: EventSource,
): Promise<void> {
  for (let at = 0; at < text.length && !client.closed; at += pieceBytes) {
    if (client.write(text.slice(at, at + pieceBytes))) continue;
    await new Promise<void>((go) => {
      const cancel = timers.after(limits.stalledMs, () => client.destroy());
      client.onDrain(() => {
        cancel();
        go();
      });
    });
  }
}

/** Reads stored parts in their order. The last of them may come again, longer. */
class EventReader {
  part = 0;
  readonly #startingAfter: number;
  /** The events that were read of `part`. */
  #read = 0;
  #sequence = -1;
  #isFailed = false;

  constructor(startingAfter: number) {
    this.#startingAfter = startingAfter;
  }

  /** The events of `stored` that were not read before, as latin1. */
  next({ part, events }: StoredEvents): string {
    if (part !== this.part) this.#read = 0;
    this.part = part;
    const all = events.split(/\r?\n\r?\n/).filter((event) => event !== '');
    const fresh = all.slice(this.#read);
    this.#read = all.length;
    return latin1Of(fresh.map((event) => this.#passed(event)).join(''));
  }

  #passed(event: string): string {
    const data = event.split(/\r?\n/).find((line) => line.startsWith('data:'));
    const value = data === undefined ? undefined : parse(data.slice('data:'.length));
    if (!isObject(value)) return '';
    const { sequence_number: number, type } = value;
    this.#sequence = typeof number === 'number' ? number : this.#sequence + 1;
    this.#isFailed ||= type === 'error' || type === 'response.failed';
    return this.#sequence > this.#startingAfter ? event + eventEnd : '';
  }

  /** The last event of a response that failed without one: its node is gone. */
  end({ status, body }: StoredResponse): string {
    if (status !== 'failed' || this.#isFailed) return '';
    const type = 'response.failed';
    const event = { type, sequence_number: this.#sequence + 1, response: body };
    return `event: ${type}\ndata: ${jsonText(event)}${eventEnd}`;
  }
}
