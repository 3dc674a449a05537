import type { IncomingHttpHeaders } from 'node:http';
import type { Principal } from '../accounts/principal.ts';
import { refuse } from '../base/refusal.ts';
import type { Model, Snapshot } from '../catalog/snapshot.ts';
import { offerTo } from '../gateway/models/offers.ts';
import { messagesVersionHeader } from '../providers/conversation/messages-version.ts';
import type { HttpRequest, ClientConvention } from './endpoint.ts';
import { chatConvention, messagesConvention } from './entry.ts';

/**
 * The size of a page in Anthropic's shape (platform.claude.com/docs/en/api/models/list, 2026-11).
 */
const pageDefault = 20;
export const modelsPageMax = 1_000;

/**
 * Both conventions have `/v1/models`: the request's headers show which one the client speaks, and
 * the key may come in either header.
 */
export const modelsConvention: ClientConvention = {
  ...chatConvention,
  credential: messagesConvention.credential,
  spokenBy: (headers) => (speaksMessages(headers) ? messagesConvention : modelsConvention),
};

const speaksMessages = (headers: IncomingHttpHeaders): boolean =>
  headers[messagesVersionHeader] !== undefined || headers['x-api-key'] !== undefined;

/** OpenAI's four members, and the day on which the vendor shuts the model down. */
function render({ id, created, ownedBy, shutdownDate }: Model): object {
  const shown = { id, object: 'model', created, owned_by: ownedBy };
  return shutdownDate === undefined ? shown : { ...shown, shutdown_date: shutdownDate };
}

/**
 * Anthropic's members beside OpenAI's: some clients send no header that tells which of the two they
 * read. An unknown value is null.
 */
function renderUnion(model: Model): object {
  const { id, created, context, outputTokensMax, shutdownDate } = model;
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
    ...render(model),
  };
}

const rfc3339 = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

/** GET /v1/models: the models that the key can use. */
export function listModels(
  snapshot: Snapshot,
  { group, models }: Principal,
  { url, headers }: Pick<HttpRequest, 'url' | 'headers'>,
): string {
  const reached = snapshot
    .listing(group)
    .filter(({ id }) => models === undefined || models.has(id));
  const query = new URLSearchParams(url.split('?', 2)[1] ?? '');
  // The page size may be all that shows Claude Code's convention (doors.md §5.1).
  if (speaksMessages(headers) || limitOf(query) !== undefined)
    return JSON.stringify(pageOf(reached, query));
  return JSON.stringify({ object: 'list', data: reached.map(render) });
}

/** Undefined without a limit, or with one that no page can have. */
function limitOf(query: URLSearchParams): number | undefined {
  const limit = query.get('limit') ?? '';
  return /^\d{1,4}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= modelsPageMax
    ? Number(limit)
    : undefined;
}

/** The models after `after_id`, or those right before `before_id`, in the order of the list. */
function pageOf(all: readonly Model[], query: URLSearchParams): object {
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
    data: data.map(renderUnion),
    has_more: before === undefined ? to < all.length : from > 0,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}

/** The index of the model that a cursor names; undefined without a cursor. */
function indexOf(all: readonly Model[], query: URLSearchParams, param: string): number | undefined {
  const id = query.get(param);
  if (id === null || id === '') return undefined;
  const at = all.findIndex((model) => model.id === id);
  return at < 0
    ? refuse('invalid_value', { param, why: `there is no model '${id}' in the list.` })
    : at;
}

/** GET /v1/models/{id}; ids may contain `/`. */
export function getModel(
  snapshot: Snapshot,
  principal: Principal,
  { headers }: Pick<HttpRequest, 'headers'>,
  id: string,
): string {
  const offer = offerTo(snapshot, principal, id);
  if (offer === undefined) refuse('model_not_found', { model: id, param: 'model' });
  return JSON.stringify(speaksMessages(headers) ? renderUnion(offer.model) : render(offer.model));
}
