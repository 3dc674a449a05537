import { setImmediate as turn } from 'node:timers/promises';
import { hourMs } from '../../base/calendar.ts';
import type { Clock } from '../../base/clock.ts';
import type { Offer, Snapshot } from '../../catalog/snapshot.ts';
import { abilitiesOf, type ChatAbilities } from '../../gateway/models/abilities.ts';
import type { Vendor } from '../../providers/vendor.ts';
import { failuresByHour, type ModelFailures } from '../../request-log/queries.ts';
import {
  type SpeedHour,
  speedsByHour,
  type SpeedQuery,
  speedsByModel,
  speedsOfRecords,
  summarizeSpeeds,
} from '../../usage/histogram.ts';
import { hoursUpTo, recentOf } from '../../usage/ranges.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import type { ModelDetail, ModelSpeed } from '../contract.ts';
import { instant } from '../format.ts';

export interface FiguresContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly catalog: () => Snapshot;
  readonly vendors: ReadonlyMap<string, Vendor>;
}

const recentHours = 24;
const historyHours = 7 * 24;
/** Hours of one point of a history. */
const spanHours = 6;
/** The figures of all models are read at most once in this time. */
const freshMs = 10_000;

/** What models can do, and how fast they were, for the lists of models. */
export class ModelFigures {
  readonly #context: FiguresContext;
  #abilities = new Map<string, ChatAbilities>();
  #abilitiesOf: string | undefined;
  #speeds:
    | { readonly at: number; readonly all: Promise<ReadonlyMap<string, ModelSpeed>> }
    | undefined;

  constructor(context: FiguresContext) {
    this.#context = context;
  }

  /** The abilities of one model; computed once for each version of the catalog. */
  abilities(offer: Offer): ChatAbilities {
    const { version } = this.#context.catalog();
    if (this.#abilitiesOf !== version) {
      this.#abilities = new Map();
      this.#abilitiesOf = version;
    }
    const key = `${offer.group.name}\n${offer.model.id}`;
    const known = this.#abilities.get(key) ?? abilitiesOf(offer, this.#context.vendors);
    this.#abilities.set(key, known);
    return known;
  }

  /** The same for many: other requests have their turn between two models. */
  async abilitiesOfAll(offers: readonly Offer[]): Promise<readonly ChatAbilities[]> {
    const all: ChatAbilities[] = [];
    for (const offer of offers) {
      if (!this.#abilities.has(`${offer.group.name}\n${offer.model.id}`)) await turn();
      all.push(this.abilities(offer));
    }
    return all;
  }

  /** The speed of each model in the last 24 hours. */
  speeds(): Promise<ReadonlyMap<string, ModelSpeed>> {
    const at = this.#context.clock.monotonicMs();
    if (this.#speeds === undefined || at - this.#speeds.at >= freshMs) {
      const all = this.#readSpeeds();
      this.#speeds = { at, all };
      all.catch(() => (this.#speeds = undefined));
    }
    return this.#speeds.all;
  }

  async #readSpeeds(): Promise<ReadonlyMap<string, ModelSpeed>> {
    const { database, clock } = this.#context;
    const now = clock.now();
    const range = hoursUpTo(now, recentHours);
    const [speeds, failures] = await database.snapshot(function* () {
      const rolled = yield* speedsByModel(range);
      const speeds = [...rolled, ...(yield* lastMinutes(range, now))];
      return [speeds, yield* failuresByHour(range)] as const;
    });
    const models = new Set([...speeds, ...failures].map(({ model }) => model));
    return new Map(
      [...models].flatMap((model) => {
        const ofModel = (one: { readonly model: string }): boolean => one.model === model;
        const speed = speedOf(speeds.filter(ofModel), failures.filter(ofModel));
        return speed === null ? [] : [[model, speed] as const];
      }),
    );
  }

  /** The speed of one model over the last day, and over the last week in points. */
  async history(model: string): Promise<Pick<ModelDetail, 'speed' | 'history'>> {
    const { database, clock } = this.#context;
    const now = clock.now();
    const range = hoursUpTo(now, historyHours);
    const [speeds, failures] = await database.snapshot(function* () {
      const query = { model, ...range };
      const speeds = [...(yield* speedsByHour(query)), ...(yield* lastMinutes(query, now))];
      return [speeds, yield* failuresByHour(query)] as const;
    });
    const within = (from: number, to: number) =>
      speedOf(
        speeds.filter(({ hour }) => hour >= from && hour < to),
        failures.filter(({ hour }) => hour >= from && hour < to),
      );
    const points = Array.from({ length: historyHours / spanHours }, (_, index) => {
      const from = range.from + index * spanHours * hourMs;
      return { at: instant(from), speed: within(from, from + spanHours * hourMs) };
    });
    return {
      speed: within(range.to - recentHours * hourMs, range.to),
      history: { hours: spanHours, points },
    };
  }
}

/** The records that no hour has yet, while they are few enough to read. */
function* lastMinutes(query: SpeedQuery, now: number): Transaction<readonly SpeedHour[]> {
  const { tail } = yield* recentOf(query, now);
  return tail === undefined ? [] : yield* speedsOfRecords({ ...query, ...tail });
}

function speedOf(
  speeds: readonly SpeedHour[],
  failures: readonly ModelFailures[],
): ModelSpeed | null {
  const { requests, cut, ...summary } = summarizeSpeeds(speeds);
  const failed = failures.reduce((sum, one) => sum + one.requests, 0);
  if (requests + failed === 0) return null;
  return {
    requests: requests + failed,
    first_byte_median_ms: summary.medianMs ?? null,
    total_median_ms: summary.medianDurationMs ?? null,
    output_per_second: summary.outputPerSecond ?? null,
    success_share: Math.round(((requests - cut) / (requests + failed)) * 1e5) / 1e5,
  };
}
