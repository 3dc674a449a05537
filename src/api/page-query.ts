import { refuse } from '../base/refusal.ts';
import { type RequestContext, queryOf } from './endpoint.ts';

/** Which page of a list the client wants. `pageQuery` in schema.ts describes the parameters. */
export interface PageQuery {
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** The id of the last entry of the page before; undefined: the first page. */
  readonly after: string | undefined;
}

const pageDefault = 20;

export function pageQueryOf({ request }: RequestContext, limitMax: number): PageQuery {
  const query = queryOf(request.url);
  const order = query.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc')
    refuse('invalid_value', { param: 'order', why: 'it is asc or desc.' });
  const text = query.get('limit') ?? String(pageDefault);
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > limitMax)
    refuse('out_of_range', {
      param: 'limit',
      expected: `between 1 and ${limitMax}, in digits`,
      got: `'${text}'`,
    });
  // An empty `after` is ignored.
  return { order, limit, after: query.get('after') || undefined };
}

/** One page of a list, as clients get it. */
export const pageOf = (data: readonly { readonly id?: unknown }[], hasMore: boolean): object => ({
  object: 'list',
  data,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
  has_more: hasMore,
});
