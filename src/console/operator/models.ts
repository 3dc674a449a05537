import * as z from 'zod';
import { writeAudit } from '../../accounts/audit.ts';
import { addModel, changeModel, retireModel } from '../../catalog/edit-models.ts';
import type { EditDone, EditResult } from '../../catalog/editing.ts';
import { latestPriceVersion, type StoredPriceVersion } from '../../catalog/price-versions.ts';
import {
  readStoredCatalog,
  storedCatalog,
  type StoredCatalog,
  type StoredModel,
} from '../../catalog/stored-catalog.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import type { List, OperatorModel, OperatorModelDetail, PriceVersionRef } from '../contract.ts';
import { instant } from '../format.ts';
import { textInput, versionIn } from '../input.ts';
import { auditedPrice } from './audited-price.ts';
import { type OperatorContext, byOperator, editOrThrow, auditFacts } from './context.ts';
import { furtherPricesOf, wholePpm, pricesOf } from '../prices.ts';
import { throwProblem } from '../problem.ts';
import { chargedBy } from './price-preview.ts';
import {
  type ChannelActivity,
  channelActivity,
  isServed,
  judgedOf,
  notServingByName,
} from './serving.ts';
import { type ConsoleRoute, type SignedInRequest, defineRoute } from '../route.ts';

const members = {
  owned_by: z.string().optional(),
  kind: z.string().optional(),
  context: z.number().nullable().optional(),
  max_output: z.number().nullable().optional(),
  durations: z.array(z.number()).nullable().optional(),
  modalities: z.unknown().optional(),
  top_speed: z.number().nullable().optional(),
  hedge_after_ms: z.number().nullable().optional(),
  image: z.unknown().optional(),
  shutdown_date: z.string().nullable().optional(),
};
const changeInput = z.strictObject({ ...members, active: z.literal(false).optional() });
/** With only an id, a model that was sold is sold again; another is one of the bundled list. */
const newModelInput = z.strictObject({
  ...members,
  id: textInput(200),
  price: z.unknown().optional(),
});

/** Models that are or were sold. Prices change by publishing (prices.ts). */
export function operatorModelRoutes(context: OperatorContext): readonly ConsoleRoute[] {
  const { database, clock, bundled } = context;
  const role = 'operator';
  const idOf = ({ params }: SignedInRequest<unknown>): string => params['id'] ?? '';
  const one = (id: string): Promise<OperatorModelDetail> => modelDetail(context, id);
  return [
    defineRoute({
      method: 'GET',
      path: 'operator/models',
      role,
      async handle(): Promise<List<OperatorModel>> {
        const catalog = await storedCatalog(database);
        const activity = await channelActivity(database, clock);
        return { items: catalog.models.map((model) => modelView(model, catalog, activity)) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: 'operator/models/:id',
      role,
      handle: (request) => one(idOf(request)),
    }),
    defineRoute({
      method: 'POST',
      path: 'operator/models',
      role,
      input: newModelInput,
      async handle(request) {
        const { input, user, at, reply } = request;
        const known = await bundled();
        await applyEdit(database, request, 'model.create', () =>
          addModel(givenFields(input), known, { source: 'console', actor: user.id, at }),
        );
        reply.status(201);
        return one(input.id);
      },
    }),
    defineRoute({
      method: 'PATCH',
      path: 'operator/models/:id',
      role,
      input: changeInput,
      async handle(request) {
        const { active, ...rest } = request.input;
        const of = { name: idOf(request), version: versionIn(request.headers) };
        if (active === false)
          await applyEdit(database, request, 'model.retire', () => retireModel(of, request.at));
        else
          await applyEdit(database, request, 'model.update', () =>
            changeModel(of, givenFields(rest), request.at),
          );
        return one(of.name);
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: 'operator/models/:id',
      role,
      async handle(request) {
        const of = { name: idOf(request), version: versionIn(request.headers) };
        await applyEdit(database, request, 'model.retire', () => retireModel(of, request.at));
      },
    }),
  ];
}

async function modelDetail(
  { database, clock, listFees }: OperatorContext,
  id: string,
): Promise<OperatorModelDetail> {
  const [catalog, model, latest] = await database.snapshot(function* () {
    const stored = yield* readStoredCatalog();
    const wanted = stored.models.find((some) => some.id === id);
    if (wanted === undefined) return throwProblem('not_found');
    return [stored, wanted, yield* latestPriceVersion(id)] as const;
  });
  const charged = chargedBy(catalog, model, model.price, listFees);
  return {
    ...modelView(model, catalog, await channelActivity(database, clock)),
    waiting_price: waitingOf(model, latest),
    further_prices: furtherPricesOf(model.price, charged),
  };
}

/** The latest version, where it is not in force yet. */
function waitingOf(
  { priceVersion }: StoredModel,
  { version, effectiveAt }: StoredPriceVersion,
): PriceVersionRef | null {
  return version === priceVersion ? null : { version, since: instant(effectiveAt) };
}

/** The members that are present in a body. */
const givenFields = (body: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));

/** A change of a model, and its line in the audit trail. */
function applyEdit(
  database: Database,
  request: SignedInRequest<unknown>,
  action: string,
  edit: () => Transaction<EditResult<StoredModel>>,
): Promise<void> {
  return database.transact(function* () {
    yield* auditModel(request, action, editOrThrow(yield* edit(), asWritten, 'id'));
  });
}

/** Writes a change of a model into the audit trail, with its prices. */
export function* auditModel(
  request: SignedInRequest<unknown>,
  action: string,
  { before, after }: Pick<EditDone<StoredModel>, 'before' | 'after'>,
): Transaction<void> {
  const price = auditedPrice(before?.price, after?.price);
  yield* writeAudit(request.at, {
    ...byOperator(request),
    action,
    target: `model:${after?.id ?? before?.id ?? ''}`,
    before: { ...withoutPrice(before), ...price.before },
    after: { ...withoutPrice(after), ...price.after },
  });
}

const withoutPrice = (model: StoredModel | undefined) =>
  auditFacts(model && { ...model, price: undefined });

/** The model in the format of a change, for comparison after a conflict. */
const asWritten = ({
  id,
  ownedBy,
  kind,
  context,
  outputTokensMax,
  durations,
  hedgeAfterMs,
  shutdownDate,
  version,
  origin,
}: StoredModel) => ({
  id,
  owned_by: ownedBy,
  kind,
  context: context ?? null,
  max_output: outputTokensMax ?? null,
  durations: durations ?? null,
  hedge_after_ms: hedgeAfterMs ?? null,
  shutdown_date: shutdownDate ?? null,
  version,
  origin,
});

export function modelView(
  model: StoredModel,
  { channels }: Pick<StoredCatalog, 'channels'>,
  activity: ChannelActivity,
): OperatorModel {
  const {
    id,
    ownedBy,
    kind,
    context,
    outputTokensMax,
    modalities,
    shutdownDate,
    durations,
    price,
    active,
    origin,
    version,
  } = model;
  const listing = judgedOf(id, channels, activity);
  return {
    id,
    vendor: ownedBy,
    kind,
    context: context ?? null,
    output_tokens_max: outputTokensMax ?? null,
    modalities: modalities ?? null,
    prices: pricesOf(price, wholePpm),
    shutdown_date: shutdownDate ?? null,
    active,
    channels: listing.map(({ channel: { name } }) => name),
    not_serving: notServingByName(listing),
    served: isServed(listing),
    price_version: model.priceVersion,
    durations: durations ?? null,
    hedge_after_ms: model.hedgeAfterMs ?? null,
    origin,
    version,
  };
}
