import type { Principal } from '../accounts/principal.ts';
import { refuse } from '../base/refusal.ts';
import type { ModelKind, Offer, Snapshot } from '../catalog/snapshot.ts';
import { requireOffer } from '../gateway/models/offers.ts';
import { queryOf } from './endpoint.ts';

/** Where clients look for models, beside `/v1`: those of the Gemini API, and those of Vertex. */
export const modelPrefixes: readonly string[] = [
  '/v1beta',
  '/v1beta1/publishers/google',
  '/v1beta1/projects/:project/locations/:location/publishers/google',
];

const namePrefix = 'models/';

/** The id of a model: clients may write `models/` before it. */
export const modelIdOf = (id: string): string =>
  id.startsWith(namePrefix) ? id.slice(namePrefix.length) : id;

/** The methods of the kinds of models that clients of this format can ask. */
const methodsOf: Readonly<Partial<Record<ModelKind, readonly string[]>>> = {
  chat: ['generateContent', 'countTokens'],
  embedding: ['embedContent', 'batchEmbedContents'],
};

/** ai.google.dev/api/models, 2026-11. */
const pageDefault = 50;
const pageMax = 1_000;

function render({ model }: Offer): object {
  const { id, context, outputTokensMax, kind, ownedBy } = model;
  return {
    name: namePrefix + id,
    baseModelId: id,
    version: '001',
    displayName: id,
    description: `${id}, by ${ownedBy}.`,
    ...(context === undefined ? {} : { inputTokenLimit: context }),
    ...(outputTokensMax === undefined ? {} : { outputTokenLimit: outputTokensMax }),
    supportedGenerationMethods: methodsOf[kind] ?? [],
  };
}

/**
 * GET /v1beta/models: a page of the models that this format can ask. `pageToken` is the index of the
 * first one.
 */
export function listGenerateModels(all: readonly Offer[], url: string): string {
  const query = queryOf(url);
  const offers = all.filter(({ model }) => methodsOf[model.kind] !== undefined);
  const size = Math.min(numberIn(query, 'pageSize', 1) ?? pageDefault, pageMax);
  const from = numberIn(query, 'pageToken', 0) ?? 0;
  const to = from + size;
  return JSON.stringify({
    models: offers.slice(from, to).map(render),
    ...(to < offers.length ? { nextPageToken: String(to) } : {}),
  });
}

/** A parameter of the query in either spelling; absent, empty and, for a size, 0 are the same. */
export function numberIn(query: URLSearchParams, name: string, least: number): number | undefined {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const value = query.get(name) ?? query.get(snake) ?? '';
  if (value === '' || value === '0') return undefined;
  if (!/^\d{1,9}$/.test(value))
    refuse('out_of_range', {
      param: name,
      expected: `of at least ${least}, in digits`,
      got: value,
    });
  return Number(value);
}

/** GET /v1beta/models/{model} */
export function getGenerateModel(snapshot: Snapshot, principal: Principal, id: string): string {
  return JSON.stringify(render(requireOffer(snapshot, principal, id)));
}
