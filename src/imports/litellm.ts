import type { Fraction } from '../base/fraction.ts';
import { objectOf } from '../base/json.ts';
import type { Bundled } from '../catalog/bundled.ts';
import { writtenFacts } from '../catalog/config-entries.ts';
import { writtenPrice } from '../catalog/config-price.ts';
import type { VendorFacts } from '../catalog/configuration.ts';
import { readDecimal, roundedUp } from '../catalog/decimal.ts';
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
  readonly vendors: readonly VendorFacts[];
  /**
   * LiteLLM's own list of prices, where it was named: it prices models that the configuration does
   * not price.
   */
  readonly list: ReadonlyMap<string, LitellmEntry> | undefined;
  readonly rate: Fraction;
}

/** Converts LiteLLM's configuration. `value`: the parsed file, numbers as text. */
export function convertLitellm(value: unknown, context: ConversionContext): ConvertedConfig {
  const file = members(value);
  const list = file['model_list'];
  const deployments = deploymentsIn(file, Array.isArray(list) ? list : []);
  const done: Conversion = {
    models: [],
    channels: [],
    leftOut: [],
    notes: notesOn(file),
    prices: new Map(),
    weightPlaces: Math.max(0, ...deployments.map(({ params }) => placesOf(params['weight']))),
  };
  for (const deployment of deployments) convertOne(deployment, context, done);
  const { models, channels, leftOut, notes } = done;
  return { models, channels, leftOut, notes };
}

/** A conversion that goes on. */
interface Conversion extends ConvertedConfig {
  readonly models: LitellmEntry[];
  readonly channels: Channel[];
  /** The price of each model that a channel sells, in its text for people. */
  readonly prices: Map<string, string>;
  /** The most decimals of a weight in the file; weights here are whole numbers. */
  readonly weightPlaces: number;
}

interface Deployment {
  /** The name for clients. */
  readonly id: string;
  readonly params: LitellmEntry;
  readonly info: LitellmEntry;
}

/** The entries of `model_list`, with the credentials that they name. */
function deploymentsIn(file: LitellmEntry, list: readonly unknown[]): readonly Deployment[] {
  const credentials = file['credential_list'];
  const named = new Map(
    (Array.isArray(credentials) ? credentials : [])
      .map(members)
      .map((one) => [entryText(one['credential_name']), members(one['credential_values'])]),
  );
  return list.map(members).map((entry) => {
    const params = members(entry['litellm_params']);
    const credential = named.get(entryText(params['litellm_credential_name']));
    return {
      id: entryText(entry['model_name']),
      params: credential === undefined ? params : { ...params, ...credential },
      info: members(entry['model_info']),
    };
  });
}

function convertOne(deployment: Deployment, context: ConversionContext, done: Conversion): void {
  const { id, params } = deployment;
  const what = `model ${id || '(without a name)'}`;
  const leave = (why: string): void => void done.leftOut.push({ what, why });
  const bought = id === '' ? undefined : boughtFrom(params, context);
  if (bought === undefined)
    return leave(`nothing here speaks as '${entryText(params['model'])}' does`);
  const why = reasonToLeave(bought);
  if (why !== undefined) return leave(why);
  const { own, model } = describe(deployment, bought.upstream, context);
  const price = model && priceLine(model['price']);
  const before = done.prices.get(id);
  if (before === undefined) {
    const listed = own ? undefined : context.bundled.get(id)?.facts;
    if (listed !== undefined) done.prices.set(id, priceLine(writtenPrice(listed.price)));
    else if (model !== undefined) {
      done.models.push(model);
      done.prices.set(id, priceLine(model['price']));
    } else
      return leave(
        'no price is known for it: write input_cost_per_token and output_cost_per_token into its model_info, or name a list with --prices',
      );
  } else if (price !== undefined && price !== before)
    done.notes.push(
      `${what}: ${entryText(params['model'])} costs ${price}, and is sold at the price of the first deployment: ${before}`,
    );
  done.notes.push(...notesOnDeployment(what, params, bought));
  addToChannel(done, bought, params, id);
}

/** The reason why a deployment of a known vendor is left out, if there is one. */
function reasonToLeave({ vendor, upstream, baseUrl, home }: VendorOfModel): string | undefined {
  if (upstream.includes('*'))
    return `a channel of ${vendor} without 'models' sells all that the bundled list has; ids have no prefix there`;
  if ((baseUrl ?? home) === undefined)
    return `${vendor} has no address that is the same for everyone: write its api_base, or its aws_region_name`;
  return undefined;
}

/** Parameters of a deployment that are imported, or have a note of their own. Prices are, too. */
const takenParams = new Set([
  ...['model', 'custom_llm_provider', 'api_base', 'base_url', 'api_key', 'aws_region_name'],
  ...['aws_access_key_id', 'aws_secret_access_key', 'aws_session_token', 'order', 'weight'],
  ...['base_model', 'mode', 'rpm', 'tpm', 'max_parallel_requests', 'litellm_credential_name'],
]);

function notesOnDeployment(
  what: string,
  params: LitellmEntry,
  { secret, variable, home }: VendorOfModel,
): readonly string[] {
  const limits = ['rpm', 'tpm', 'max_parallel_requests'].filter(
    (name) => params[name] !== undefined,
  );
  const others = Object.keys(params).filter(
    (name) => !takenParams.has(name) && !name.includes('_cost') && params[name] !== undefined,
  );
  return [
    ...limits.map(
      (name) =>
        `${what}: ${name} of a deployment is not taken: a vendor's own 429 rests a channel, and groups have limits`,
    ),
    ...(others.length === 0 ? [] : [`${what}: not taken of its deployment: ${others.join(', ')}`]),
    ...(variable === undefined
      ? []
      : [`${what}: it names no api_key: its channel reads ${variable}`]),
    ...(secret === undefined && !isLocal(home)
      ? [`${what}: it names no api_key: its channel has none`]
      : []),
  ];
}

interface VendorOfModel {
  readonly vendor: string;
  readonly upstream: string;
  readonly baseUrl: string | undefined;
  /** The vendor's own address. */
  readonly home: string | undefined;
  readonly secret: string | undefined;
  /** The vendor's variable, where `secret` reads it because the deployment names no key. */
  readonly variable: string | undefined;
}

/**
 * The vendor of `provider/model`, or of a model alone that the bundled list knows. Undefined: no
 * vendor of Tollgate.
 */
function boughtFrom(
  params: LitellmEntry,
  { bundled, vendors }: ConversionContext,
): VendorOfModel | undefined {
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
  const base = filled(params['api_base'] ?? params['base_url'])?.replace(/\/+$/, '');
  const path = found?.path ?? '';
  const region = filled(params['aws_region_name']);
  const regional =
    region === undefined ? undefined : `https://bedrock-runtime.${region}.amazonaws.com`;
  const baseUrl = base === undefined ? regional : base + (base.endsWith(path) ? '' : path);
  const facts = vendors.find(({ id }) => id === vendor);
  const secret = secretOf(params);
  // LiteLLM reads the usual variable by itself. A server of the operator's own may need no key, and
  // must not get the vendor's.
  const reads = secret === undefined && baseUrl === undefined && isPublic(facts?.baseUrl);
  const variable = reads ? facts?.env?.apiKey : undefined;
  return {
    vendor,
    upstream: upstream.replace(/^(?:converse|invoke|responses)\//, ''),
    baseUrl,
    home: facts?.baseUrl,
    secret: variable === undefined ? secret : `\${${variable}}`,
    variable,
  };
}

const isPublic = (home: string | undefined): boolean => home?.startsWith('https:') === true;
/** Of a vendor whose programs run on the operator's own machines, and need no key. */
const isLocal = (home: string | undefined): boolean => home !== undefined && !isPublic(home);

function secretOf(params: LitellmEntry): string | undefined {
  const names = ['aws_access_key_id', 'aws_secret_access_key', 'aws_session_token'];
  const [id, key, ...session] = names.map((name) => filled(params[name]));
  if (id !== undefined && key !== undefined)
    return [id, key, ...session.filter((part) => part !== undefined)].join(':');
  return filled(params['api_key']);
}

/** `os.environ/NAME` → `${NAME}`; a literal `${` is escaped. */
function filled(written: unknown): string | undefined {
  if (typeof written !== 'string' || written === '') return undefined;
  const name = /^os\.environ\/(.+)$/.exec(written)?.[1];
  return name === undefined ? written.replaceAll('${', () => '$${') : `\${${name}}`;
}

/**
 * A model as in the configuration file; undefined when no price is known. `own`: the deployment
 * itself names the price.
 */
function describe(
  { id, params, info }: Deployment,
  upstream: string,
  { bundled, list, rate }: ConversionContext,
): { readonly own: boolean; readonly model: LitellmEntry | undefined } {
  const facts = { ...info, ...params };
  const base = entryText(facts['base_model']);
  const names = [upstream, base, base.slice(base.indexOf('/') + 1)];
  const known = names.map((name) => bundled.get(name)?.facts).find((one) => one !== undefined);
  const listed = [id, entryText(params['model']), ...names]
    .map((name) => list?.get(name))
    .find((one) => one !== undefined);
  const kind: ModelKind =
    modelKindOf(facts) ?? known?.kind ?? (listed && modelKindOf(listed)) ?? 'chat';
  const own = priceOf(facts, kind, rate);
  const price =
    own ??
    (known === undefined ? listed && priceOf(listed, kind, rate) : writtenPrice(known.price));
  const model = {
    id,
    kind,
    ...(known && writtenFacts(known)),
    ...limitsOf(listed ?? {}, kind),
    // `max_tokens` and the like in `litellm_params` are defaults of requests.
    ...limitsOf(info, kind),
    price,
  };
  return { own: own !== undefined, model: price === undefined ? undefined : model };
}

/** The rates of a price in one line, for people. */
const priceLine = (price: unknown): string =>
  Object.entries(members(price))
    .map(([name, one]) => `${name} ${typeof one === 'string' ? one : JSON.stringify(one)}`)
    .join(', ');

/**
 * Deployments with the same vendor, address, key, order and weight become one channel, as long as
 * each of them sells the model once.
 */
function addToChannel(
  { channels, weightPlaces }: Conversion,
  { vendor, upstream, baseUrl, secret }: VendorOfModel,
  params: LitellmEntry,
  id: string,
): void {
  const order = entryText(params['order']);
  const priority = /^\d+$/.test(order) ? order : undefined;
  const weight = weightOf(params, weightPlaces);
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

/** More decimals than this are no share that anybody meant. */
const weightPlacesMax = 4;

/** The number of decimals of a weight such as `0.25`. */
const placesOf = (weight: unknown): number =>
  Math.min(weightPlacesMax, /^\d*\.(\d+?)0*$/.exec(entryText(weight))?.[1]?.length ?? 0);

/** A weight times 10^`places`, as every weight of the file; a deployment without one weighs 1. */
function weightOf(params: LitellmEntry, places: number): string | undefined {
  const written = readDecimal(entryText(params['weight']));
  if (written !== undefined) return String(roundedUp(written, places));
  return places === 0 ? undefined : String(10 ** places);
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
    ...noteIf(
      file['environment_variables'] !== undefined,
      'environment_variables are not taken: set them where Tollgate runs',
    ),
    ...noteIf(file['include'] !== undefined, 'included files are not read: join them first'),
  ];
}

const members = (value: unknown): LitellmEntry => objectOf(value) ?? {};
