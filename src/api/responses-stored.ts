import { refuse } from '../base/refusal.ts';
import type { ResponseMemory } from '../recall/responses.ts';
import { type Body } from './check.ts';
import type { Endpoint, Visit } from './door.ts';

const pageDefault = 20;
export const pageMax = 100;

/** What clients ask of responses that are remembered. Another account's are not there. */
export function storedEndpoints(memory: ResponseMemory): readonly Endpoint[] {
  return [
    {
      method: 'GET',
      path: '/responses/:id',
      handle: async (visit) => sendJson(visit, (await found(memory, visit)).body),
    },
    {
      method: 'DELETE',
      path: '/responses/:id',
      handle: async (visit) => {
        const id = idOf(visit);
        if (!(await memory.forget(visit.principal.userId, id)))
          refuse('response_not_found', { id });
        sendJson(visit, { id, object: 'response', deleted: true });
      },
    },
    {
      method: 'POST',
      path: '/responses/:id/cancel',
      handle: async (visit) => {
        const { body } = await found(memory, visit);
        if (body['background'] !== true)
          refuse('invalid_value', {
            param: 'response_id',
            why: 'only a response in the background can be cancelled.',
          });
        const cancelled = await memory.cancel(visit.principal.userId, idOf(visit));
        if (cancelled === undefined) refuse('response_not_found', { id: idOf(visit) });
        sendJson(visit, cancelled.body);
      },
    },
    {
      method: 'GET',
      path: '/responses/:id/input_items',
      handle: async (visit) => {
        const { input, previous } = await found(memory, visit);
        const before =
          previous === undefined ? [] : await memory.conversation(visit.principal.userId, previous);
        sendJson(visit, pageOf([...(before ?? []), ...input], queryOf(visit)));
      },
    },
  ];
}

async function found(
  memory: ResponseMemory,
  visit: Visit,
): Promise<NonNullable<Awaited<ReturnType<ResponseMemory['find']>>>> {
  const id = idOf(visit);
  const response = await memory.find(visit.principal.userId, id);
  if (response === undefined) refuse('response_not_found', { id });
  return response;
}

function sendJson({ reply }: Visit, body: unknown): void {
  reply.whole(200, 'application/json', JSON.stringify(body));
}

function idOf({ request: { params } }: Visit): string {
  if (
    typeof params === 'object' &&
    params !== null &&
    'id' in params &&
    typeof params.id === 'string'
  )
    return params.id;
  throw new Error('the route of a response has an id');
}

const queryOf = ({ request }: Visit): URLSearchParams =>
  new URLSearchParams(request.url.split('?')[1] ?? '');

/**
 * A page of items, newest first unless asked otherwise; `after` is the last item of the page
 * before.
 */
function pageOf(items: readonly Body[], query: URLSearchParams): object {
  const order = query.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc')
    refuse('invalid_value', { param: 'order', why: 'it is asc or desc.' });
  const limit = Number(query.get('limit') ?? pageDefault);
  if (!Number.isInteger(limit) || limit < 1 || limit > pageMax)
    refuse('out_of_range', {
      param: 'limit',
      expected: `between 1 and ${pageMax}`,
      got: query.get('limit') ?? '',
    });
  const sorted = order === 'asc' ? [...items] : items.toReversed();
  // Empty, it says nothing.
  const after = query.get('after') || null;
  const at = after === null ? 0 : sorted.findIndex((item) => item['id'] === after) + 1;
  if (after !== null && at === 0)
    refuse('invalid_value', { param: 'after', why: `there is no item with id '${after}'.` });
  const data = sorted.slice(at, at + limit);
  const ids = { first_id: data[0]?.['id'] ?? null, last_id: data.at(-1)?.['id'] ?? null };
  return { object: 'list', data, ...ids, has_more: at + limit < sorted.length };
}
