import { refuse } from '../base/refusal.ts';
import { countInput } from '../gateway/count-tokens.ts';
import type { IdempotentRequests } from '../gateway/idempotency.ts';
import { requireOffer } from '../gateway/models/offers.ts';
import type { GatewayParts } from '../gateway/parts.ts';
import { run } from '../gateway/run.ts';
import type { ResponseStore } from '../memory/responses.ts';
import { summaryTask } from '../providers/bridges/compact-over-responses.ts';
import { type Endpoint, type RequestContext, idIn, queryOf, sendJson } from './endpoint.ts';
import { idempotent } from './idempotency.ts';
import { sendStoredEvents } from './background-events.ts';
import { pageOf, type PageQuery, pageQueryOf } from './page-query.ts';
import { takeJson, type RequestBody } from './request-body.ts';
import { runInBackground } from './responses-background.ts';
import { storedResponseOf, loadConversation } from './responses-conversation.ts';
import { parseInput, parseResponse, responsesFormat } from './responses.ts';

/** The endpoints under `/v1/responses`. */
export function responsesEndpoints(
  parts: GatewayParts,
  store: ResponseStore,
  idempotency: IdempotentRequests,
): readonly Endpoint[] {
  return [
    idempotent(idempotency, {
      method: 'POST',
      path: '/responses',
      handle: (context) => create(parts, store, context),
    }),
    {
      method: 'POST',
      path: '/responses/input_tokens',
      handle: (context) => inputTokens(parts, store, context),
    },
    idempotent(idempotency, {
      method: 'POST',
      path: '/responses/compact',
      handle: (context) => compact(parts, store, context),
    }),
    ...storedEndpoints(parts, store),
  ];
}

async function create(
  parts: GatewayParts,
  store: ResponseStore,
  context: RequestContext,
): Promise<void> {
  const { principal, request, response } = context;
  const sent = takeJson(request);
  const alone = parseResponse(context, sent);
  const whole = await loadConversation(store, principal.userId, sent);
  const { body, own } = whole;
  const input = body === sent.body ? alone : parseResponse(context, whole);
  if (body['background'] === true) return runInBackground(parts, store, input, own(), response);
  if (body['store'] === false) return run(parts, input, response, responsesFormat);
  const keep = async (last: Buffer): Promise<void> => {
    const kept = storedResponseOf(last, own());
    if (kept) await store.keep(principal.userId, kept);
  };
  return run(parts, Object.assign({}, input, { keep }), response, responsesFormat);
}

/** POST /v1/responses/input_tokens: the vendor's count if it has one, else Tollgate's; free. */
async function inputTokens(
  parts: GatewayParts,
  store: ResponseStore,
  context: RequestContext,
): Promise<void> {
  const { principal, request, response } = context;
  const sent = takeJson(request);
  parseInput(context, sent);
  const whole = await loadConversation(store, principal.userId, sent);
  return countInput(parts, parseInput(context, whole), response, renderCount);
}

/**
 * POST /v1/responses/compact: a vendor that offers this compacts the conversation, and only that
 * vendor can read the result; otherwise the model summarizes the conversation.
 */
async function compact(
  parts: GatewayParts,
  store: ResponseStore,
  context: RequestContext,
): Promise<void> {
  const { principal, request, response } = context;
  const sent = takeJson(request);
  const { model } = parseInput(context, sent);
  const offer = requireOffer(parts.catalog(), principal, model);
  if (!offer.candidates.some(({ channel }) => parts.openChannels.of(channel).adapter('compact')))
    refuse('invalid_value', {
      param: 'model',
      why: `conversations with '${model}' cannot be compacted.`,
    });
  const input = parseInput(context, await loadConversation(store, principal.userId, sent));
  const text = (): string => `${summaryTask}\n${input.text()}`;
  return run(parts, { ...input, capability: 'compact', text }, response, responsesFormat);
}

const renderCount = (tokens: number): string =>
  JSON.stringify({ object: 'response.input_tokens', input_tokens: tokens });

export const storedResponsesPageMax = 100;
/** The largest number of an event that clients may name. */
export const sequenceNumberMax = 1_000_000_000;

/** The endpoints of stored responses. An account sees only its own. */
function storedEndpoints(
  { timers, limits }: Pick<GatewayParts, 'timers' | 'limits'>,
  store: ResponseStore,
): readonly Endpoint[] {
  return [
    {
      method: 'GET',
      path: '/responses/:id',
      handle: async (context) => {
        const found = await foundResponse(store, context);
        const startingAfter = streamedAfter(queryOf(context.request.url));
        if (startingAfter === undefined) return sendJson(context, found.body);
        const { principal, response: client } = context;
        return sendStoredEvents({ store, timers, limits }, principal.userId, found, {
          startingAfter,
          client,
        });
      },
    },
    {
      method: 'DELETE',
      path: '/responses/:id',
      handle: async (context) => {
        const id = idIn(context);
        if (!(await store.forget(context.principal.userId, id)))
          refuse('response_not_found', { id });
        sendJson(context, { id, object: 'response', deleted: true });
      },
    },
    {
      method: 'POST',
      path: '/responses/:id/cancel',
      handle: async (context) => {
        const { body } = await foundResponse(store, context);
        if (body['background'] !== true)
          refuse('invalid_value', {
            param: 'response_id',
            why: 'only a response in the background can be cancelled.',
          });
        const cancelled = await store.cancel(context.principal.userId, idIn(context));
        if (cancelled === undefined) refuse('response_not_found', { id: idIn(context) });
        sendJson(context, cancelled.body);
      },
    },
    {
      method: 'GET',
      path: '/responses/:id/input_items',
      handle: async (context) => {
        const { input, previous } = await foundResponse(store, context);
        const before =
          previous === undefined
            ? []
            : await store.conversation(context.principal.userId, previous);
        const items = eachOnce([...(before ?? []), ...input]);
        sendJson(context, pageOfItems(items, pageQueryOf(context, storedResponsesPageMax)));
      },
    },
  ];
}

async function foundResponse(
  store: ResponseStore,
  context: RequestContext,
): Promise<NonNullable<Awaited<ReturnType<ResponseStore['find']>>>> {
  const id = idIn(context);
  const response = await store.find(context.principal.userId, id);
  if (response === undefined) refuse('response_not_found', { id });
  return response;
}

/** The last event that a client of a stored stream has; undefined: it wants the whole response. */
function streamedAfter(query: URLSearchParams): number | undefined {
  const stream = query.get('stream') ?? 'false';
  if (stream !== 'true' && stream !== 'false')
    refuse('invalid_value', { param: 'stream', why: 'it is true or false.' });
  const written = query.get('starting_after');
  const after = written === null ? -1 : Number(written || NaN);
  const isNumber = Number.isInteger(after) && after >= 0 && after <= sequenceNumberMax;
  if (written !== null && !isNumber)
    refuse('out_of_range', {
      param: 'starting_after',
      expected: `between 0 and ${sequenceNumberMax}`,
      got: written,
    });
  return stream === 'true' ? after : undefined;
}

/**
 * The items without repetitions: a request may refer to an item of its conversation, or send it
 * again. The id of the last item tells where the next page begins, so each id stands once.
 */
function eachOnce(items: readonly RequestBody[]): readonly RequestBody[] {
  const seen = new Set<unknown>();
  return items.filter(({ id }) => {
    if (typeof id === 'string' && seen.has(id)) return false;
    seen.add(id);
    return true;
  });
}

/** A page of items, newest first unless asked otherwise. */
function pageOfItems(items: readonly RequestBody[], { order, limit, after }: PageQuery): object {
  const sorted = order === 'asc' ? items : items.toReversed();
  const at = after === undefined ? 0 : sorted.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && at === 0)
    refuse('invalid_value', { param: 'after', why: `there is no item with id '${after}'.` });
  return pageOf(sorted.slice(at, at + limit), at + limit < sorted.length);
}
