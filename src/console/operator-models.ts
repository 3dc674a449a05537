import * as z from 'zod';
import { writeAudit } from '../accounts/audit.ts';
import { addModel, changeModel, retireModel } from '../catalog/edit-models.ts';
import type { Edited } from '../catalog/editing.ts';
import {
  recordedCatalogue,
  type RecordedCatalogue,
  type RecordedModel,
} from '../catalog/recorded.ts';
import type { Database, Script } from '../storage/database.ts';
import type { List, OperatorModel } from './contract.ts';
import { versionIn } from './headers.ts';
import type { OperatorRooms } from './operator-rooms.ts';
import { byOperator, doneOr, plainFacts } from './operator-writes.ts';
import { one, pricesOf } from './prices.ts';
import { fail } from './problem.ts';
import { type ConsoleRow, type ConsoleVisit, row } from './row.ts';

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
const changed = z.strictObject({ ...members, active: z.literal(false).optional() });
/** Without anything but its id, it is taken as the bundled list has it. */
const made = z.strictObject({
  ...members,
  id: z.string().trim().min(1, 'empty').max(200, 'too_long'),
  price: z.unknown().optional(),
});

/** Models that are or were sold. What they cost is published (operator-prices.ts). */
export function modelRows(rooms: OperatorRooms): readonly ConsoleRow[] {
  const { database, bundled } = rooms;
  const role = 'operator';
  const idOf = ({ params }: ConsoleVisit<unknown>): string => params['id'] ?? '';
  const one = async (id: string): Promise<OperatorModel> => {
    const catalogue = await recordedCatalogue(database);
    const model = catalogue.models.find((some) => some.id === id);
    return model === undefined ? fail('not_found') : modelView(model, catalogue);
  };
  return [
    row({
      method: 'GET',
      path: 'operator/models',
      role,
      async handle(): Promise<List<OperatorModel>> {
        const catalogue = await recordedCatalogue(database);
        return { items: catalogue.models.map((model) => modelView(model, catalogue)) };
      },
    }),
    row({ method: 'GET', path: 'operator/models/:id', role, handle: (visit) => one(idOf(visit)) }),
    row({
      method: 'POST',
      path: 'operator/models',
      role,
      input: made,
      async handle(visit) {
        const { input, user, at, reply } = visit;
        const known = await bundled();
        await act(database, visit, 'model.create', () =>
          addModel(given(input), known, { source: 'console', actor: user.id, at }),
        );
        reply.status(201);
        return one(input.id);
      },
    }),
    row({
      method: 'PATCH',
      path: 'operator/models/:id',
      role,
      input: changed,
      async handle(visit) {
        const { active, ...rest } = visit.input;
        const of = { name: idOf(visit), version: versionIn(visit.headers) };
        if (active === false)
          await act(database, visit, 'model.retire', () => retireModel(of, visit.at));
        else
          await act(database, visit, 'model.update', () => changeModel(of, given(rest), visit.at));
        return one(of.name);
      },
    }),
    row({
      method: 'DELETE',
      path: 'operator/models/:id',
      role,
      async handle(visit) {
        const of = { name: idOf(visit), version: versionIn(visit.headers) };
        await act(database, visit, 'model.retire', () => retireModel(of, visit.at));
      },
    }),
  ];
}

/** The members that a body has. */
const given = (body: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));

/** A change of a model, and its line in the audit trail. */
function act(
  database: Database,
  visit: ConsoleVisit<unknown>,
  action: string,
  edit: () => Script<Edited<RecordedModel>>,
): Promise<void> {
  return database.transact(function* () {
    const { before, after } = doneOr(yield* edit(), asWritten);
    const target = after?.id ?? before?.id ?? '';
    const facts = { before: plainFacts(before), after: plainFacts(after) };
    yield* writeAudit(visit.at, {
      ...byOperator(visit),
      action,
      target: `model:${target}`,
      ...facts,
    });
  });
}

/** In the words of a change, to be held against one. */
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
}: RecordedModel) => ({
  ...{ id, owned_by: ownedBy, kind, context: context ?? null, max_output: outputTokensMax ?? null },
  ...{
    durations: durations ?? null,
    hedge_after_ms: hedgeAfterMs ?? null,
    shutdown_date: shutdownDate ?? null,
    version,
    origin,
  },
});

export function modelView(
  model: RecordedModel,
  { channels }: Pick<RecordedCatalogue, 'channels'>,
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
  return {
    id,
    vendor: ownedBy,
    kind,
    context: context ?? null,
    output_tokens_max: outputTokensMax ?? null,
    modalities: modalities ?? null,
    prices: pricesOf(price, one),
    shutdown_date: shutdownDate ?? null,
    active,
    channels: channels.filter((channel) => channel.models.has(id)).map(({ name }) => name),
    price_version: model.priceVersion,
    durations: durations ?? null,
    hedge_after_ms: model.hedgeAfterMs ?? null,
    origin,
    version,
  };
}
