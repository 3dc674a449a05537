import type { Principal } from '../accounts/principal.ts';
import { refuse } from '../base/refusal.ts';
import type { Offer, Snapshot } from '../catalog/snapshot.ts';
import { offerTo, requireOffer } from '../gateway/models/offers.ts';
import type { GatewayParts } from '../gateway/parts.ts';
import { type Endpoint, type HttpRequest, queryOf } from './endpoint.ts';
import { generateConvention, sharedConvention, speaksMessages } from './entry.ts';
import {
  getGenerateModel,
  listGenerateModels,
  modelIdOf,
  modelPrefixes,
} from './generate-models.ts';
import { modelFacts } from './model-facts.ts';

/** The endpoints under `/v1/models`. */
export function modelEndpoints({
  catalog,
  clock,
}: Pick<GatewayParts, 'catalog' | 'clock'>): readonly Endpoint[] {
  const list: Endpoint['handle'] = ({ principal, request, response, convention }) => {
    const body =
      convention === generateConvention
        ? listGenerateModels(offersTo(catalog(), principal), request.url)
        : listModels(catalog(), principal, request, clock.now());
    response.whole(200, 'application/json', body);
  };
  return [
    {
      method: 'GET',
      path: '/models',
      aliases: ['/api/v1/models', ...modelPrefixes.map((prefix) => `${prefix}/models`)],
      convention: sharedConvention,
      handle: list,
    },
    {
      method: 'GET',
      path: '/models/*',
      aliases: modelPrefixes.map((prefix) => `${prefix}/models/*`),
      convention: sharedConvention,
      handle({ principal, request, response, convention }) {
        const id = request.params['*'] ?? '';
        if (convention === generateConvention) {
          const body = getGenerateModel(catalog(), principal, modelIdOf(id));
          return response.whole(200, 'application/json', body);
        }
        const body = getModel(catalog(), principal, request, id, clock.now());
        response.whole(200, 'application/json', body);
      },
    },
  ];
}

/**
 * The size of a page in Anthropic's shape (platform.claude.com/docs/en/api/models/list, 2026-11).
 */
const pageDefault = 20;
export const modelsPageMax = 1_000;

/** OpenAI's four members, the day on which the vendor shuts the model down, and `modelFacts`. */
function render(offer: Offer, at: number): object {
  const { id, created, ownedBy, shutdownDate } = offer.model;
  const shutdown = shutdownDate === undefined ? undefined : { shutdown_date: shutdownDate };
  return {
    id,
    object: 'model',
    created,
    owned_by: ownedBy,
    ...shutdown,
    ...modelFacts(offer, at),
  };
}

/**
 * Anthropic's members beside OpenAI's: some clients send no header that tells which of the two they
 * read. An unknown value is null.
 */
function renderUnion(offer: Offer, at: number): object {
  const { id, created, context, outputTokensMax, shutdownDate } = offer.model;
  return {
    type: 'model',
    display_name: id,
    created_at: rfc3339(created * 1_000),
    max_input_tokens: context ?? null,
    max_tokens: outputTokensMax ?? null,
    capabilities: null,
    line: null,
    lifecycle: shutdownDate === undefined ? 'active' : 'deprecated',
    deprecated_at: null,
    retires_at: shutdownDate === undefined ? null : rfc3339(Date.parse(shutdownDate)),
    ...render(offer, at),
  };
}

const rfc3339 = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

/** The models that a key can use, by id. */
export const offersTo = (snapshot: Snapshot, principal: Principal): readonly Offer[] =>
  snapshot.listing(principal.group).flatMap(({ id }) => offerTo(snapshot, principal, id) ?? []);

/** GET /v1/models: the models that the key can use. `at`: wall clock, ms. */
function listModels(
  snapshot: Snapshot,
  principal: Principal,
  { url, headers }: Pick<HttpRequest, 'url' | 'headers'>,
  at: number,
): string {
  const reached = offersTo(snapshot, principal);
  const query = queryOf(url);
  // The page size may be all that shows Claude Code's convention (doors.md §5.1).
  if (speaksMessages(headers) || limitOf(query) !== undefined)
    return JSON.stringify(pageOf(reached, query, at));
  const data = reached.map((offer) => render(offer, at));
  return JSON.stringify({ object: 'list', data });
}

/** Undefined without a limit, or with one that no page can have. */
function limitOf(query: URLSearchParams): number | undefined {
  const limit = query.get('limit') ?? '';
  return /^\d{1,4}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= modelsPageMax
    ? Number(limit)
    : undefined;
}

/** The models after `after_id`, or those right before `before_id`, in the order of the list. */
function pageOf(all: readonly Offer[], query: URLSearchParams, at: number): object {
  const limit = query.has('limit') ? limitOf(query) : pageDefault;
  if (limit === undefined)
    refuse('out_of_range', {
      param: 'limit',
      expected: `between 1 and ${modelsPageMax}`,
      got: query.get('limit') || 'nothing',
    });
  const [after, before] = [indexOf(all, query, 'after_id'), indexOf(all, query, 'before_id')];
  if (after !== undefined && before !== undefined)
    refuse('invalid_value', { param: 'before_id', why: "it cannot stand beside 'after_id'." });
  const from = before === undefined ? (after ?? -1) + 1 : Math.max(0, before - limit);
  const to = before ?? from + limit;
  const data = all.slice(from, to);
  return {
    object: 'list',
    data: data.map((offer) => renderUnion(offer, at)),
    has_more: before === undefined ? to < all.length : from > 0,
    first_id: data[0]?.model.id ?? null,
    last_id: data.at(-1)?.model.id ?? null,
  };
}

/** The index of the model that a cursor names; undefined without a cursor. */
function indexOf(all: readonly Offer[], query: URLSearchParams, param: string): number | undefined {
  const id = query.get(param);
  if (id === null || id === '') return undefined;
  const at = all.findIndex(({ model }) => model.id === id);
  return at < 0
    ? refuse('invalid_value', { param, why: `there is no model '${id}' in the list.` })
    : at;
}

/** GET /v1/models/{id}; ids may contain `/`. */
function getModel(
  snapshot: Snapshot,
  principal: Principal,
  { headers }: Pick<HttpRequest, 'headers'>,
  id: string,
  at: number,
): string {
  const offer = requireOffer(snapshot, principal, id);
  return JSON.stringify(speaksMessages(headers) ? renderUnion(offer, at) : render(offer, at));
}
