import type { Nano } from '../../base/money.ts';
import type { JsonChange } from '../../base/json.ts';
import type { Quantities, ToolMeasure } from '../../base/quantities.ts';
import { refuse } from '../../base/refusal.ts';
import {
  type Bill,
  costOf,
  feesOf,
  lineCost,
  type MediaPlaces,
  outputTokensFor,
  type PriceLine,
  type Tariff,
  type TariffTerms,
  worstCase,
} from '../../catalog/price.ts';
import type { Candidate, Offer, Snapshot } from '../../catalog/snapshot.ts';
import type { Principal } from '../../accounts/principal.ts';
import type { PricingFacts } from '../../providers/adapter.ts';
import {
  type RequestedTerm,
  type BillableTool,
  type ReferencedModel,
  withVendorModelNames,
  type BillableFeatures,
  servedTierNames,
} from '../../providers/billable-features.ts';
import { requireOffer } from '../models/offers.ts';

/** The most tokens that one call of a tool that the vendor runs is expected to add to the input. */
const tokensPerToolCall = 8_000;
/**
 * The most tokens of a compacted conversation, and of an advisor's answer, where the request sets
 * no limit.
 */
const tokensPerSummary = 8_192;
/** The text that an image model reads beside the images of the conversation. */
const tokensPerImagePrompt = 4_096;
/** A generated image whose size is not known. */
const tokensPerGeneratedImage = 16_384;
const megapixelsPerGeneratedImage = 4;

/** A model that the request names, with its price. */
interface NamedModelPrice extends ReferencedModel {
  readonly tariff: Tariff;
}

/** The size of a request, which bounds what the other models that it names may read and write. */
export interface SizeEstimate {
  readonly textTokens: number;
  readonly media: MediaPlaces;
  readonly outputTokens: number;
}

/** What decides the price of an answer beside its quantities. */
interface AnswerBasis {
  readonly facts?: PricingFacts | undefined;
  readonly variant?: string | undefined;
  /** The channel that answered. */
  readonly candidate?: Candidate | undefined;
  /** Wall clock, ms. */
  readonly endedAt: number;
}

/**
 * The prices at which one request may be charged, where its model's plain price is not the only
 * one. The dearest is reserved. The price that the answer reports is charged, but never a dearer
 * one than the request asked for.
 */
export class Quote {
  readonly #demand: BillableFeatures | undefined;
  /**
   * The tariff of the tier and region that the request asks for comes first, the standard one last.
   */
  readonly #tariffs: readonly Tariff[];
  readonly #terms: TariffTerms | undefined;
  readonly #at: number;
  readonly #named: readonly NamedModelPrice[];
  readonly #calls: ReadonlyMap<ToolMeasure, number>;
  readonly #inputMore: number;
  readonly #outputMore: number;
  readonly #fixed: Nano;

  constructor(
    demand: BillableFeatures | undefined,
    tariffs: readonly Tariff[],
    offer: Offer,
    at: number,
    named: readonly NamedModelPrice[],
    size: SizeEstimate,
  ) {
    this.#demand = demand;
    this.#tariffs = tariffs;
    this.#terms = offer.tariff.terms;
    this.#at = at;
    this.#named = named;
    const calls = new Map<ToolMeasure, number>();
    for (const tool of demand?.tools ?? [])
      calls.set(tool.measure, (calls.get(tool.measure) ?? 0) + tool.calls);
    this.#calls = calls;
    const readByTools = [...calls.values()].reduce(
      (sum, count) => sum + count * tokensPerToolCall,
      0,
    );
    this.#inputMore =
      readByTools + (demand?.compacts === true ? size.textTokens + size.media.inputTokens : 0);
    this.#outputMore = demand?.compacts === true ? tokensPerSummary : 0;
    const dearestFees = tariffs.map((tariff) => feesOf(tariff, Object.fromEntries(calls)).total);
    this.#fixed = named.reduce(
      (sum, one) => sum + worstOfNamed(one, size, this.#inputMore),
      highest(dearestFees),
    );
  }

  /**
   * Whether the vendor may run models several times for one answer: for tools, for other models,
   * for compaction.
   */
  get runsOften(): boolean {
    const { tools = [], models = [], compacts } = this.#demand ?? {};
    return tools.length > 0 || models.length > 0 || compacts === true;
  }

  /**
   * The most output tokens beside the model's own answer: of an advisor, of an image model, of
   * compaction.
   */
  get outputBeyond(): number {
    const byOthers = this.#named.reduce((sum, { role, calls, outputTokens }) => {
      if (role === 'instead') return sum;
      return (
        sum +
        calls * (role === 'image' ? tokensPerGeneratedImage : (outputTokens ?? tokensPerSummary))
      );
    }, 0);
    return this.#outputMore + byOthers;
  }

  /** Whether the request asks the vendor for another tier than its standard one. */
  get requestsMode(): boolean {
    return this.#demand?.mode !== undefined;
  }

  /**
   * The most that the request can cost with so many tokens of text as input and so many tokens of
   * output.
   */
  worst(textTokens: number, outputTokens: number, media: MediaPlaces): Nano {
    const each = this.#tariffs.map((tariff) =>
      worstCase(tariff, textTokens + this.#inputMore, outputTokens + this.#outputMore, media),
    );
    return highest(each) + this.#fixed;
  }

  /** The same for a request whose quantities are known beforehand. */
  worstOf(most: Quantities, variant: string | undefined): Nano {
    return (
      highest(this.#tariffs.map((tariff) => costOf(tariff, most, variant).total)) + this.#fixed
    );
  }

  /** The most output tokens such that `worst` stays within `money`. */
  affordable(money: Nano, textTokens: number, media: MediaPlaces): number {
    const each = this.#tariffs.map((tariff) =>
      outputTokensFor(tariff, money - this.#fixed, textTokens + this.#inputMore, media),
    );
    return Math.max(0, Math.min(...each) - this.#outputMore);
  }

  /** The changes of the request that keep this channel's vendor within the bounds. */
  boundsFor({ channel }: Candidate): readonly JsonChange[] | undefined {
    if (this.#demand === undefined) return undefined;
    const named = withVendorModelNames(
      this.#demand.models,
      (model) => channel.models.get(model) ?? model,
    );
    return named.length === 0 && this.#demand.bounds.length === 0
      ? undefined
      : [...this.#demand.bounds, ...named];
  }

  /** The bill of the answer. */
  bill(quantities: Quantities, { facts, variant, candidate, endedAt }: AnswerBasis): Bill {
    const tariff = this.#served(quantities, facts?.servedTier, variant, endedAt);
    const instead = this.#namedBy(facts?.model, candidate, 'instead');
    const bill = new BillSum();
    const items = facts?.items;
    if (items === undefined)
      bill.add(costOf(instead?.tariff ?? tariff, quantities, variant), instead?.model);
    for (const [i, item] of (items ?? []).entries()) {
      const other =
        item.isImageUsage === true ? this.#imageModel() : this.#namedBy(item.model, candidate);
      // Several calls of the requested model are one request. A call of another model is a request
      // of its own.
      const counted =
        other === undefined && i > 0 ? { request: 0, ...item.quantities } : item.quantities;
      bill.add(
        costOf(
          other?.tariff ?? tariff,
          counted,
          item.isImageUsage === true ? item.variant : variant,
        ),
        other?.model,
      );
    }
    bill.add(feesOf(tariff, this.#called(quantities)), undefined);
    return bill.done();
  }

  /**
   * The tariff of the tier that the answer reports, but never a dearer one than the requested
   * tier's or the standard one.
   */
  #served(
    quantities: Quantities,
    served: string | undefined,
    variant: string | undefined,
    endedAt: number,
  ): Tariff {
    const terms = this.#terms;
    // Without terms there is one tariff.
    if (terms === undefined) return dearest(this.#tariffs, quantities, variant);
    const { mode, region } = this.#demand ?? {};
    const window = terms.windowAt(terms.price.windows?.moment === 'finished' ? endedAt : this.#at);
    const under = (name: string | undefined): Tariff =>
      terms.under({ mode: name, place: region?.requested, window });
    const wanted = mode === undefined ? undefined : listed(terms, mode);
    if (served === undefined) return under(wanted);
    const names = servedTierNames(served);
    if (names.length === 0) return under(undefined);
    const name = names.find((one) => terms.price.modes?.[one] !== undefined);
    const limit = dearest([under(wanted), under(undefined)], quantities, variant);
    // A tier that no price lists counts as the dearest that may have been served.
    if (name === undefined) return limit;
    const by = under(name);
    return total(by, quantities, variant) > total(limit, quantities, variant) ? limit : by;
  }

  /**
   * The model with this name at the vendor; undefined: the requested model. An unknown name counts
   * as the dearest of the named models.
   */
  #namedBy(
    upstream: string | undefined,
    candidate: Candidate | undefined,
    role?: ReferencedModel['role'],
  ): NamedModelPrice | undefined {
    if (upstream === undefined || this.#named.length === 0) return undefined;
    const among = this.#named.filter((one) => role === undefined || one.role === role);
    const isCalled = (name: string | undefined): boolean =>
      name !== undefined && (name === upstream || upstream.startsWith(`${name}-`));
    const exact = among.find(({ model }) => candidate?.channel.models.get(model) === upstream);
    if (exact !== undefined) return exact;
    if (isCalled(candidate?.upstreamModel)) return undefined;
    return (
      among.find(
        ({ model }) => isCalled(candidate?.channel.models.get(model)) || isCalled(model),
      ) ?? dearestNamed(among)
    );
  }

  #imageModel(): NamedModelPrice | undefined {
    return dearestNamed(this.#named.filter(({ role }) => role === 'image'));
  }

  /**
   * The calls of tools that are charged: those that the answer reports, at most those that were
   * reserved.
   */
  #called(quantities: Quantities): Quantities {
    const calls: Partial<Record<ToolMeasure, number>> = {};
    for (const [measure, most] of this.#calls) {
      const uncounted = (this.#demand?.tools ?? []).reduce(
        (sum, tool) => (tool.measure === measure && tool.uncounted ? sum + tool.calls : sum),
        0,
      );
      calls[measure] = Math.min(Math.max(quantities[measure] ?? 0, uncounted), most);
    }
    return calls;
  }
}

const highest = (amounts: readonly Nano[]): Nano =>
  amounts.reduce((most, amount) => (amount > most ? amount : most), 0n);
const total = (tariff: Tariff, quantities: Quantities, variant: string | undefined): Nano =>
  costOf(tariff, quantities, variant).total;
const dearest = (
  tariffs: readonly Tariff[],
  quantities: Quantities,
  variant: string | undefined,
): Tariff =>
  tariffs.reduce((a, b) => (total(b, quantities, variant) > total(a, quantities, variant) ? b : a));
const listed = ({ price }: TariffTerms, { names }: RequestedTerm): string | undefined =>
  names.find((name) => price.modes?.[name] !== undefined);

function dearestNamed(among: readonly NamedModelPrice[]): NamedModelPrice | undefined {
  const worst = ({ tariff }: NamedModelPrice): Nano =>
    worstCase(tariff, 1_000, 1_000, { inputTokens: 1_000, output: true });
  return among.reduce<NamedModelPrice | undefined>(
    (most, one) => (most === undefined || worst(one) > worst(most) ? one : most),
    undefined,
  );
}

/** The most that the calls of another model can cost. */
function worstOfNamed(
  { role, tariff, calls, outputTokens }: NamedModelPrice,
  size: SizeEstimate,
  inputMore: number,
): Nano {
  const { textTokens, media } = size;
  if (role === 'instead')
    return worstCase(tariff, textTokens + inputMore, size.outputTokens, media);
  if (role === 'advisor')
    return (
      BigInt(calls) *
      worstCase(
        tariff,
        textTokens + inputMore + size.outputTokens,
        outputTokens ?? tokensPerSummary,
        media,
      )
    );
  const pieces = costOf(tariff, {
    image: 1,
    megapixel: megapixelsPerGeneratedImage,
    request: 0,
  }).total;
  const painting = { inputTokens: media.inputTokens + tokensPerGeneratedImage, output: true };
  return (
    BigInt(calls) *
    (pieces + worstCase(tariff, tokensPerImagePrompt, tokensPerGeneratedImage, painting))
  );
}

/** Adds bills up. Lines of one measure at one rate become one line, which is rounded up once. */
class BillSum {
  readonly #lines = new Map<string, PriceLine>();

  add({ lines }: Bill, model: string | undefined): void {
    for (const line of lines) {
      const key = `${line.measure}|${line.rate}|${line.terms ?? ''}|${model ?? ''}`;
      const quantity = (this.#lines.get(key)?.quantity ?? 0) + line.quantity;
      const { measure, rate, terms } = line;
      this.#lines.set(key, {
        measure,
        quantity,
        rate,
        cost: lineCost(quantity, rate),
        ...(terms && { terms }),
        ...(model && { model }),
      });
    }
  }

  done(): Bill {
    const lines = [...this.#lines.values()];
    return { lines, total: lines.reduce((sum, { cost }) => sum + cost, 0n) };
  }
}

/** An offer with the price at which this request may buy it: the plain one, or by a quote. */
export interface QuoteResult {
  readonly offer: Offer;
  /** The plain price at this moment. */
  readonly tariff: Tariff;
  readonly quote?: Quote | undefined;
}

/** The facts that a quote needs. */
export interface QuoteContext {
  readonly catalog: Snapshot;
  readonly principal: Principal;
  readonly capability: string;
  readonly at: number;
}

/**
 * Finds the prices at which the request may be charged. Throws the Refusal of a feature that is not
 * sold.
 */
export function makeQuote(
  context: QuoteContext,
  offer: Offer,
  demand: BillableFeatures | undefined,
  size: SizeEstimate,
): QuoteResult {
  const { terms } = offer.tariff;
  const tariff = terms === undefined ? offer.tariff : terms.plainAt(context.at);
  if (demand === undefined) {
    if (terms?.price.windows?.moment !== 'finished') return { offer, tariff };
    const windows = tariffsOf(terms, { at: context.at });
    return { offer, tariff, quote: new Quote(undefined, windows, offer, context.at, [], size) };
  }
  const { mode, region: place } = demand;
  const sold = mode && modeSold(offer, mode, context.capability);
  if (place !== undefined && terms?.price.places?.[place.requested] === undefined)
    refuseTerm(offer, place, Object.keys(terms?.price.places ?? {}));
  for (const tool of demand.tools) requireToolFee(offer, tool);
  const named = demand.models.map((one) => namedModel(context, offer, one));
  const narrows = named.length > 0 || demand.tools.length > 0;
  const narrowed = narrows
    ? { ...offer, candidates: candidatesWith(offer, named, demand.tools) }
    : offer;
  const tariffs =
    terms === undefined
      ? [tariff]
      : tariffsOf(terms, { mode: sold, place: place?.requested, at: context.at });
  return {
    offer: narrowed,
    tariff,
    quote: new Quote(demand, tariffs, offer, context.at, named, size),
  };
}

/** What a request asks of a price, and when. `at`: wall clock, ms. */
interface RequestedTerms {
  readonly mode?: string | undefined;
  readonly place?: string | undefined;
  readonly at: number;
}

/**
 * The tariffs at which a request may be charged: the requested mode, then the standard one, each in
 * every window that may hold.
 */
function tariffsOf(terms: TariffTerms, { mode, place, at }: RequestedTerms): readonly Tariff[] {
  const { windows } = terms.price;
  const now = terms.windowAt(at);
  const others =
    windows?.moment === 'finished' ? [undefined, ...windows.list.map(({ name }) => name)] : [];
  const names = [...new Set([now, ...others])];
  return [...new Set([mode, undefined])].flatMap((each) =>
    names.map((window) => terms.under({ mode: each, place, window })),
  );
}

function modeSold(offer: Offer, mode: RequestedTerm, capability: string): string {
  const { modes = {} } = offer.tariff.terms?.price ?? {};
  const soldHere = Object.keys(modes).filter(
    (name) => modes[name]?.only?.includes(capability) ?? true,
  );
  const name = mode.names.find((one) => soldHere.includes(one));
  return name ?? refuseTerm(offer, mode, soldHere);
}

function refuseTerm(
  { model }: Offer,
  { param, requested }: RequestedTerm,
  others: readonly string[],
): never {
  const sold =
    others.length === 0
      ? 'Only the standard one is sold.'
      : `Sold beside the standard one: ${others.join(', ')}.`;
  return refuse('not_sold', { param, what: `'${requested}'`, model: model.id, sold });
}

/** Refuses a tool without a fee, and options of a tool that its list fee does not cover. */
function requireToolFee(offer: Offer, { measure, param, beyondList }: BillableTool): void {
  const what = toolText(measure);
  if (!offer.tariff.fees.has(measure))
    refuse('not_sold', {
      param,
      what,
      model: offer.model.id,
      sold: 'It has tools that you run yourself.',
    });
  const own = offer.model.price.rates[measure] !== undefined;
  if (beyondList !== undefined && !own)
    refuse('not_sold', {
      ...beyondList,
      model: offer.model.id,
      sold: 'The fee of the tool does not cover it.',
    });
}

/**
 * The channels that sell all models that the body names, and whose vendors have list fees for all
 * tools that need one.
 */
function candidatesWith(
  { model, candidates }: Offer,
  named: readonly NamedModelPrice[],
  tools: readonly BillableTool[],
): readonly Candidate[] {
  const sellingAll = candidates.filter(({ channel }) =>
    named.every((one) => channel.models.has(one.model)),
  );
  const [first] = named;
  if (sellingAll.length === 0 && first !== undefined)
    refuse('not_sold', {
      param: first.param,
      what: `the model '${first.model}'`,
      model: model.id,
      sold: 'No channel has both.',
    });
  const listed = tools.filter(({ measure }) => model.price.rates[measure] === undefined);
  const running = sellingAll.filter(({ listFees = {}, channel: { vendor } }) =>
    listed.every(
      ({ measure, knownBy = [vendor] }) =>
        listFees[measure] !== undefined && knownBy.includes(vendor),
    ),
  );
  const [tool] = listed;
  if (running.length === 0 && tool !== undefined)
    refuse('not_sold', {
      param: tool.param,
      what: toolText(tool.measure),
      model: model.id,
      sold: 'No channel has all that is asked for.',
    });
  return running;
}

const toolText = (measure: ToolMeasure): string => `a tool that the vendor runs (${measure})`;

function namedModel(
  { catalog, principal }: QuoteContext,
  { model: { id } }: Offer,
  named: ReferencedModel,
): NamedModelPrice {
  const { model, param, role } = named;
  const offer = requireOffer(catalog, principal, model, param);
  const fits = role === 'image' ? offer.model.kind === 'image' : offer.model.kind === 'chat';
  if (!fits)
    refuse('invalid_value', {
      param,
      why: `the model '${model}' is of the kind '${offer.model.kind}', which '${id}' cannot call.`,
    });
  return { ...named, tariff: offer.tariff };
}

/** The bill of a plain request whose vendor called the model several times for one answer. */
export function billOfItems(tariff: Tariff, items: NonNullable<PricingFacts['items']>): Bill {
  const bill = new BillSum();
  for (const [i, item] of items.entries())
    bill.add(
      costOf(tariff, i > 0 ? { request: 0, ...item.quantities } : item.quantities),
      undefined,
    );
  return bill.done();
}
