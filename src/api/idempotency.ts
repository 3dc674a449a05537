import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { refuse, unavailableRetryMs } from '../base/refusal.ts';
import type {
  ClaimedKey,
  OpenIdempotentRequest,
  IdempotentRequests,
} from '../gateway/idempotency.ts';
import { eventStream, RecordingResponse, type ClientResponse } from '../http/client-response.ts';
import type { StoredAnswer, IdempotentRequest } from '../memory/idempotency.ts';
import type { Endpoint, HttpRequest, RequestContext } from './endpoint.ts';
import { idempotencyHeader } from './entry.ts';

const keyCharsMax = 255;
const renewEveryMs = 5_000;
/**
 * A request that is sent again while the first one runs waits this long for the answer. It looks
 * for it at growing intervals.
 */
const waitMsMax = 300_000;
const lookMs = { first: 50, most: 1_000 };

/**
 * An endpoint that takes an Idempotency-Key: requests with the same key run once and get the same
 * answer for a day. Requests without a key go to its own handler.
 */
export const idempotent = (idempotency: IdempotentRequests, endpoint: Endpoint): Endpoint => ({
  ...endpoint,
  handleKeyed: (context) =>
    runOnce(idempotency, context, endpoint.handle, digestOf(context, context.request.body)),
});

/**
 * As `idempotent`, for an endpoint that has read the body itself. `content` stands for all of it,
 * and is asked for where there is a key.
 */
export async function idempotentAfterRead(
  idempotency: IdempotentRequests,
  context: RequestContext,
  content: () => string | Buffer | Promise<string>,
  handle: Endpoint['handle'],
): Promise<void> {
  if (context.request.headers[idempotencyHeader] === undefined) return handle(context);
  return runOnce(idempotency, context, handle, digestOf(context, await content()));
}

async function runOnce(
  idempotency: IdempotentRequests,
  context: RequestContext,
  handle: Endpoint['handle'],
  digest: string,
): Promise<void> {
  const { id, principal, response } = context;
  const keyed = { account: principal.userId, key: keyOf(context), digest, id };
  if (await isNew(idempotency, keyed, context, handle)) return;
  const entered = await answeredOrMine(idempotency, keyed, response);
  if (entered === 'left') return;
  if (entered.kind === 'other') refuse('idempotency_key_reused');
  if (entered.kind === 'running') refuse('idempotency_in_progress', {}, unavailableRetryMs);
  if (entered.kind === 'answered') return replay(response, entered.answer);
  const answering = new Answering(context, () => Promise.resolve(entered.claim));
  await answering.begin();
  await answering.run(handle);
}

/** Thrown when another request has claimed the same key first. */
class TakenByAnother extends Error {}

/**
 * Answers a request whose key no other request has claimed; otherwise returns false. The key is
 * claimed only when the work begins, so a refusal before that leaves nothing behind.
 */
async function isNew(
  idempotency: IdempotentRequests,
  keyed: IdempotentRequest,
  context: RequestContext,
  handle: Endpoint['handle'],
): Promise<boolean> {
  if (await orUnavailable(keyed, idempotency.known(keyed))) return false;
  const answering = new Answering(context, async () => {
    const entered = await enter(idempotency, keyed);
    if (entered.kind !== 'mine') throw new TakenByAnother();
    return entered.claim;
  });
  try {
    await answering.run(handle);
    return true;
  } catch (error) {
    if (error instanceof TakenByAnother) return false;
    throw error;
  }
}

/** Waits while another request with the key answers, unless too many requests wait. */
async function answeredOrMine(
  idempotency: IdempotentRequests,
  keyed: IdempotentRequest,
  response: ClientResponse,
): Promise<ClaimedKey | 'left'> {
  const entered = await enter(idempotency, keyed);
  if (entered.kind !== 'running') return entered;
  return (
    (await idempotency.waiting(keyed.account, () => untilAnswered(idempotency, keyed, response))) ??
    entered
  );
}

async function untilAnswered(
  idempotency: IdempotentRequests,
  keyed: IdempotentRequest,
  response: ClientResponse,
): Promise<ClaimedKey | 'left'> {
  let pauseMs = lookMs.first;
  for (let waitedMs = 0; ; waitedMs += pauseMs) {
    pauseMs = Math.min(lookMs.most, pauseMs * 1.5);
    await wait(pauseMs);
    if (response.closed) return 'left';
    const entered = await enter(idempotency, keyed);
    if (entered.kind !== 'running' || waitedMs >= waitMsMax) return entered;
  }
}

const enter = (idempotency: IdempotentRequests, keyed: IdempotentRequest): Promise<ClaimedKey> =>
  orUnavailable(keyed, idempotency.enter(keyed));

const orUnavailable = <T>({ id }: IdempotentRequest, found: Promise<T>): Promise<T> =>
  found.catch(() =>
    refuse('unavailable', { why: 'submissions cannot be looked up', id }, unavailableRetryMs),
  );

/** Answers one request. It counts as running from its claim until its answer is kept. */
class Answering {
  readonly #context: RequestContext;
  /** The handler's copy, which loses its body: the request may have to be handled again. */
  readonly #request: HttpRequest;
  readonly #enter: () => Promise<OpenIdempotentRequest>;
  #claim: OpenIdempotentRequest | undefined;
  #renewing: NodeJS.Timeout | undefined;

  constructor(context: RequestContext, enter: () => Promise<OpenIdempotentRequest>) {
    this.#context = context;
    this.#request = { ...context.request };
    this.#enter = enter;
  }

  readonly begin = async (): Promise<void> => {
    if (this.#claim !== undefined) return;
    const claim = await this.#enter();
    this.#claim = claim;
    const { request } = this.#context;
    request.model = this.#request.model;
    request.body = undefined;
    this.#renewing = setInterval(() => void claim.renew(), renewEveryMs);
  };

  async run(handle: Endpoint['handle']): Promise<void> {
    const response = new RecordingResponse(this.#context.response, this.begin, async (answer) =>
      this.#claim?.keep(answer),
    );
    try {
      await handle({ ...this.#context, request: this.#request, response });
      await response.finished;
    } finally {
      clearInterval(this.#renewing);
      // If the database is away, the claim still expires: nothing renews it.
      if (!response.handedOver) await this.#claim?.forget();
    }
  }
}

function replay(response: ClientResponse, { contentType, body }: StoredAnswer): void {
  response.header('idempotent-replayed', 'true');
  if (contentType !== eventStream) return response.whole(200, contentType, body);
  response.startStream();
  response.end(body.toString('latin1'));
}

function keyOf({ request }: RequestContext): string {
  const key = request.headers[idempotencyHeader];
  if (typeof key !== 'string' || key === '' || key.length > keyCharsMax)
    refuse('invalid_value', {
      param: 'Idempotency-Key',
      why: `it has 1 to ${keyCharsMax} characters.`,
    });
  return key;
}

/** The digest of the request's method, URL and body. */
function digestOf({ request }: RequestContext, body: unknown): string {
  return createHash('sha256')
    .update(`${request.method} ${request.url}\n`)
    .update(Buffer.isBuffer(body) || typeof body === 'string' ? body : '')
    .digest('hex');
}
