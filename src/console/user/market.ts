import { sampleModel } from '../../catalog/sample-model.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import { CompressedJson } from '../../http/response-encoding.ts';
import type { ModelDetail, ModelRow, ModelSpeed, ModelsView } from '../contract.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, defineRoute } from '../route.ts';
import { modelDetail, type ModelsContext, modelRows } from './models.ts';

export interface MarketContext extends ModelsContext {
  readonly publicGroup: string | undefined;
}

/** The public group, while it exists. */
export const publicGroupIn = (
  { groups }: Pick<Snapshot, 'groups'>,
  group: string | undefined,
): string | undefined => (group !== undefined && groups.has(group) ? group : undefined);

/** One address: a page asks once for each view, and the answers stay the same for a minute. */
const perMinute = 60;
const freshMs = 60_000;

/**
 * Models and prices for visitors without a session: those of one group, and nothing of the others.
 * An answer is made and compressed once a minute, however many ask for it.
 */
export function marketRoutes(context: MarketContext): readonly ConsoleRoute[] {
  const answers = new Answers(context);
  const open = (): string =>
    publicGroupIn(context.catalog(), context.publicGroup) ?? throwProblem('not_found');
  const route = {
    method: 'GET',
    role: 'anyone',
    sessionless: true,
    perMinute,
  } as const;
  return [
    defineRoute({
      ...route,
      path: 'market',
      handle: () => {
        const group = open();
        return answers.get('', () => marketOf(context, group));
      },
    }),
    defineRoute({
      ...route,
      path: 'market/*',
      handle: ({ params }) => {
        const group = open();
        const id = params['*'] ?? '';
        // An answer is kept for models on sale alone: their number bounds the memory.
        if (context.catalog().offer(group, id) === undefined) return throwProblem('not_found');
        return answers.get(`/${id}`, () => marketModelOf(context, group, id));
      },
    }),
  ];
}

interface Answer {
  readonly at: number;
  readonly json: Promise<CompressedJson>;
}

/** Compressed answers by path, of one version of the catalog. */
class Answers {
  readonly #context: MarketContext;
  #kept = new Map<string, Answer>();
  #of: Snapshot | undefined;

  constructor(context: MarketContext) {
    this.#context = context;
  }

  get(path: string, make: () => Promise<unknown>): Promise<CompressedJson> {
    const { catalog, clock } = this.#context;
    if (this.#of !== catalog()) {
      this.#of = catalog();
      this.#kept = new Map();
    }
    const at = clock.monotonicMs();
    const kept = this.#kept.get(path);
    if (kept !== undefined && at - kept.at < freshMs) return kept.json;
    const json = make().then((value) => CompressedJson.of(value));
    const all = this.#kept.set(path, { at, json });
    json.catch(() => all.delete(path));
    return json;
  }
}

async function marketOf(context: MarketContext, group: string): Promise<ModelsView> {
  const snapshot = context.catalog();
  const items = await modelRows(context, snapshot, group);
  const sample = sampleModel(snapshot.listing(group)) ?? null;
  return { group, groups: [group], items: items.map(unCounted), sample_model: sample };
}

async function marketModelOf(
  context: MarketContext,
  group: string,
  id: string,
): Promise<ModelDetail> {
  const model = await modelDetail(context, context.catalog(), id, group);
  return {
    ...unCounted(model),
    by_group: model.by_group.filter((one) => one.group === group),
    history: {
      ...model.history,
      points: model.history.points.map(({ at, speed }) => ({ at, speed: withoutCount(speed) })),
    },
  };
}

/** How much is sold is the operator's own business. */
const unCounted = <Row extends ModelRow>(model: Row): Row => ({
  ...model,
  speed: withoutCount(model.speed),
});

const withoutCount = (speed: ModelSpeed | null): ModelSpeed | null =>
  speed && { ...speed, requests: null };
