import { type Fraction, fractionText } from '../base/fraction.ts';
import { objectOf } from '../base/json.ts';
import { isMeasure } from '../base/quantities.ts';
import type { Bundled } from '../catalog/bundled.ts';
import { decimalText } from '../catalog/decimal.ts';
import { pricePlaces } from '../catalog/price-members.ts';
import { minuteText, type PriceWindow, type Times } from '../catalog/price-windows.ts';
import type { Price, Rates } from '../catalog/price.ts';
import type { ModelKind } from '../catalog/snapshot.ts';
import { type LitellmEntry, modelKindOf, limitsOf, priceOf, entryText } from './litellm-prices.ts';
import providers from './data/litellm-providers.json' with { type: 'json' };

/**
 * A Tollgate configuration converted from LiteLLM's (docs.litellm.ai/docs/proxy/config_settings,
 * 2026-11).
 */
export interface ConvertedConfig {
  readonly models: readonly LitellmEntry[];
  readonly channels: readonly Channel[];
  readonly leftOut: { readonly what: string; readonly why: string }[];
  readonly notes: string[];
}

interface Channel {
  readonly name: string;
  readonly vendor: string;
  readonly base_url?: string;
  readonly api_key?: string;
  readonly models: { readonly id: string; readonly upstream: string }[];
  readonly priority?: string;
  readonly weight?: string;
}

export interface ConversionContext {
  readonly bundled: Bundled;
  /**
   * LiteLLM's own list of prices, where it was named: it prices models that the configuration does
   * not price.
   */
  readonly list: ReadonlyMap<string, LitellmEntry> | undefined;
  readonly rate: Fraction;
}

/** Converts LiteLLM's configuration. `value`: the parsed file, numbers as text. */
export function convertLitellm(value: unknown, means: ConversionContext): ConvertedConfig {
  const file = members(value);
  const done: ConvertedConfig & { models: LitellmEntry[]; channels: Channel[] } = {
    models: [],
    channels: [],
    leftOut: [],
    notes: notesOn(file),
  };
  const list = file['model_list'];
  for (const entry of Array.isArray(list) ? list : []) convertOne(members(entry), means, done);
  return done;
}

function convertOne(
  entry: LitellmEntry,
  means: ConversionContext,
  done: ConvertedConfig & { models: LitellmEntry[]; channels: Channel[] },
): void {
  const id = entryText(entry['model_name']);
  const params = members(entry['litellm_params']);
  const what = `model ${id || '(without a name)'}`;
  const bought = boughtFrom(params, means.bundled);
  if (id === '' || bought === undefined) {
    done.leftOut.push({ what, why: `nothing here speaks as '${entryText(params['model'])}' does` });
    return;
  }
  if (bought.upstream.includes('*')) {
    done.leftOut.push({
      what,
      why: `a channel of ${bought.vendor} without 'models' sells all that the bundled list has; ids have no prefix there`,
    });
    return;
  }
  const own = { ...members(entry['model_info']), ...params };
  const priced =
    priceOf(own, modelKindOf(own) ?? means.bundled.get(id)?.facts.kind ?? 'chat', means.rate) !==
    undefined;
  if (!done.models.some((model) => model['id'] === id) && (priced || !means.bundled.has(id))) {
    const model = describe(id, bought.upstream, entryText(params['model']), own, means);
    if (model === undefined) {
      done.leftOut.push({
        what,
        why: 'no price is known for it: write input_cost_per_token and output_cost_per_token into its model_info, or name a list with --prices',
      });
      return;
    }
    done.models.push(model);
  }
  for (const name of ['rpm', 'tpm', 'max_parallel_requests'])
    if (params[name] !== undefined)
      done.notes.push(
        `${what}: ${name} of a deployment is not taken: a vendor's own 429 rests a channel, and groups have limits`,
      );
  place(done.channels, bought, params, id);
}

interface VendorOfModel {
  readonly vendor: string;
  readonly upstream: string;
  readonly baseUrl: string | undefined;
  readonly secret: string | undefined;
}

/**
 * The vendor of `provider/model`, or of a model alone that the bundled list knows. Undefined: no
 * vendor of Tollgate.
 */
function boughtFrom(params: LitellmEntry, bundled: Bundled): VendorOfModel | undefined {
  const written = entryText(params['model']);
  const named = params['custom_llm_provider'];
  const slash = written.indexOf('/');
  const provider =
    typeof named === 'string' ? named : slash > 0 ? written.slice(0, slash) : undefined;
  const table: Readonly<
    Record<string, { readonly vendor: string; readonly path?: string } | undefined>
  > = providers;
  const found = provider === undefined ? undefined : table[provider];
  const vendor =
    found?.vendor ?? (provider === undefined ? bundled.get(written)?.vendor : undefined);
  if (vendor === undefined || written === '') return undefined;
  const upstream =
    found !== undefined && written.startsWith(`${provider}/`) ? written.slice(slash + 1) : written;
  const base = filled(params['api_base'] ?? params['base_url']);
  const path = found?.path ?? '';
  const region = filled(params['aws_region_name']);
  const regional =
    region === undefined ? undefined : `https://bedrock-runtime.${region}.amazonaws.com`;
  const baseUrl =
    base === undefined
      ? regional
      : `${base.replace(/\/+$/, '')}${base.replace(/\/+$/, '').endsWith(path) ? '' : path}`;
  return {
    vendor,
    upstream: upstream.replace(/^(?:converse|invoke|responses)\//, ''),
    baseUrl,
    secret: secretOf(params),
  };
}

function secretOf(params: LitellmEntry): string | undefined {
  const pair = [filled(params['aws_access_key_id']), filled(params['aws_secret_access_key'])];
  if (pair.every((part) => part !== undefined)) return pair.join(':');
  return filled(params['api_key']) ?? filled(params['vertex_credentials']);
}

/** `os.environ/NAME` → `${NAME}`; a literal `${` is escaped. */
function filled(written: unknown): string | undefined {
  if (typeof written !== 'string' || written === '') return undefined;
  const name = /^os\.environ\/(.+)$/.exec(written)?.[1];
  return name === undefined ? written.replaceAll('${', '$${') : `\${${name}}`;
}

function describe(
  id: string,
  upstream: string,
  written: string,
  own: LitellmEntry,
  { bundled, list, rate }: ConversionContext,
): LitellmEntry | undefined {
  const listed = list?.get(id) ?? list?.get(written) ?? list?.get(upstream);
  const known = bundled.get(upstream)?.facts;
  const kind: ModelKind =
    modelKindOf(own) ?? known?.kind ?? (listed && modelKindOf(listed)) ?? 'chat';
  const price =
    priceOf(own, kind, rate) ??
    (known === undefined ? listed && priceOf(listed, kind, rate) : writtenPrice(known.price));
  if (price === undefined) return undefined;
  const limits =
    known === undefined ? {} : { context: known.context, max_output: known.outputTokensMax };
  return {
    id,
    kind,
    ...(known && { owned_by: known.ownedBy }),
    ...limits,
    ...limitsOf(listed ?? {}),
    ...limitsOf(own),
    price,
  };
}

const each = <From>(
  of: Readonly<Record<string, From>>,
  write: (one: From) => unknown,
): LitellmEntry => Object.fromEntries(Object.entries(of).map(([name, one]) => [name, write(one)]));

const writtenTimes = ({ all, each: by = {} }: Times): unknown =>
  all === undefined ? each(by, fractionText) : fractionText(all);

function writtenWindow({ name, zone, days, from, to, except, times }: PriceWindow): LitellmEntry {
  return {
    name,
    zone,
    ...(days && { days: days.map(String) }),
    from: minuteText(from),
    to: minuteText(to),
    ...(to <= from && { wraps: true }),
    ...(except && { except: except.name }),
    times: writtenTimes(times),
  };
}

function writtenPrice({ rates, tiers, by, modes, places, windows }: Price): LitellmEntry {
  const plain = (some: Rates): LitellmEntry =>
    Object.fromEntries(
      Object.entries(some).flatMap(([name, nano]) =>
        isMeasure(name) ? [[name, decimalText(nano, pricePlaces(name))]] : [],
      ),
    );
  return {
    ...plain(rates),
    ...(tiers.length > 0 && {
      tiers: tiers.map(
        ({ aboveInputTokens: input, aboveOutputTokens: output, rates: own, times }) => ({
          ...(input < 0 ? {} : { above_input_tokens: String(input) }),
          ...(output === undefined ? {} : { above_output_tokens: String(output) }),
          ...(times === undefined ? {} : { times: writtenTimes(times) }),
          ...plain(own),
        }),
      ),
    }),
    ...(modes && {
      modes: each(modes, ({ times, only }) => ({
        times: writtenTimes(times),
        ...(only && { only }),
      })),
    }),
    ...(places && { places: each(places, (times) => ({ times: writtenTimes(times) })) }),
    ...(windows && { moment: windows.moment, windows: windows.list.map(writtenWindow) }),
    ...(by && {
      by: Object.fromEntries(
        Object.entries(by.rates).map(([name, nano]) => [
          name,
          decimalText(nano, pricePlaces(by.measure)),
        ]),
      ),
    }),
  };
}

/**
 * Deployments with the same vendor, address, key, order and weight become one channel, as long as
 * each of them sells the model once.
 */
function place(
  channels: Channel[],
  { vendor, upstream, baseUrl, secret }: VendorOfModel,
  params: LitellmEntry,
  id: string,
): void {
  const whole = (name: string): string | undefined =>
    /^\d+$/.test(entryText(params[name])) ? entryText(params[name]) : undefined;
  const [priority, weight] = [whole('order'), whole('weight')];
  const facts = {
    vendor,
    ...(baseUrl !== undefined && { base_url: baseUrl }),
    ...(secret !== undefined && { api_key: secret }),
    ...(priority !== undefined && { priority }),
    ...(weight !== undefined && { weight }),
  };
  const same = channels.find(
    ({ name: _, models, ...other }) =>
      JSON.stringify(other) === JSON.stringify(facts) && !models.some((model) => model.id === id),
  );
  if (same !== undefined) {
    same.models.push({ id, upstream });
    return;
  }
  const count = channels.filter((channel) => channel.vendor === vendor).length;
  channels.push({
    name: count === 0 ? vendor : `${vendor}-${count + 1}`,
    ...facts,
    models: [{ id, upstream }],
  });
}

function notesOn(file: LitellmEntry): string[] {
  const router = { ...members(file['litellm_settings']), ...members(file['router_settings']) };
  const general = members(file['general_settings']);
  const noteIf = (there: boolean, note: string): readonly string[] => (there ? [note] : []);
  return [
    ...noteIf(
      Object.keys(router).some((name) => name.endsWith('fallbacks')),
      'fallbacks to another model are not taken: the model that was asked for answers, over another channel, or nobody does',
    ),
    ...noteIf(
      router['model_group_alias'] !== undefined,
      'model_group_alias is not taken: sell the model once more, under the other id',
    ),
    ...noteIf(
      router['routing_strategy'] !== undefined,
      'routing_strategy is not taken: channels are chosen by priority, health and weight',
    ),
    ...noteIf(router['cache'] !== undefined, 'answers are not cached here'),
    ...noteIf(
      general['master_key'] !== undefined || general['database_url'] !== undefined,
      'virtual keys, teams and budgets stand in its PostgreSQL database and are not taken: make users and keys here',
    ),
    ...noteIf(file['include'] !== undefined, 'included files are not read: join them first'),
  ];
}

const members = (value: unknown): LitellmEntry => objectOf(value) ?? {};
