import { reason } from '../base/reason.ts';
import { type Bundled, loadBundled, modelsOfVendor } from './bundled.ts';
import {
  type ConfigurationContext,
  type ConfigurationResult,
  utcDate,
  defaultGroup,
  environmentUsdRate,
  usdRateVariable,
  type VendorFacts,
  configurationWarnings,
} from './configuration.ts';
import { addressProblem, isVendorKey } from './channel-access.ts';
import { type ConfigProblem, problemAt } from './problem.ts';
import type { ChannelFacts } from './snapshot.ts';
import { withStandIns } from './stand-ins.ts';

/**
 * The configuration where there is no file: a channel, in the group `default`, for every vendor
 * whose key the environment holds, with the bundled models of this vendor. No channels when there
 * are no keys.
 */
export async function environmentConfiguration(
  context: ConfigurationContext,
): Promise<ConfigurationResult> {
  const { env, serves } = context;
  const own = context.vendors.filter((vendor) => keyIsOwn(vendor, context));
  const vendors = context.vendors.filter((vendor) => !own.includes(vendor));
  const rate = environmentUsdRate(env);
  if (typeof rate === 'string')
    return { ok: false, problems: [{ line: 0, path: usdRateVariable, message: rate }] };
  const problems = vendors.flatMap((vendor) => problemsOf(vendor, context));
  if (problems.length > 0) return { ok: false, problems };
  const reachable = vendors.flatMap((vendor) => reach(vendor, context));
  if (reachable.length === 0)
    return {
      ok: true,
      configuration: {
        groups: [defaultGroup],
        models: [],
        channels: [],
        usdRatePpm: rate,
        warnings: [...ownKeys(own), ...unreachable(vendors, env)],
      },
    };
  const bundled = await loadBundled({ usdRatePpm: rate, today: utcDate(context.now) });
  const ofVendors = reachable.map(
    (channel): ChannelFacts => ({ ...channel, models: modelsOf(channel.vendor, bundled, context) }),
  );
  const channels = withStandIns(ofVendors, { bundled, serves });
  const selling = channels.filter(({ models }) => models.size > 0);
  const empty = channels.flatMap(({ vendor, models }) =>
    models.size > 0
      ? []
      : [`the bundled list has no models of ${vendor}: name them in a configuration file`],
  );
  const sold = new Set(selling.flatMap((channel) => [...channel.models.keys()]));
  const models = [...sold].flatMap((id) => bundled.get(id)?.facts ?? []);
  const warnings = [
    ...ownKeys(own),
    ...unreachable(vendors, env),
    ...empty,
    ...configurationWarnings(
      { groups: [], models, channels: selling },
      { own: [], asked: ofVendors, bundled, serves },
    ),
  ];
  return {
    ok: true,
    configuration: {
      groups: [defaultGroup],
      models,
      channels: selling,
      usdRatePpm: rate,
      warnings,
    },
  };
}

type Reachable = Omit<ChannelFacts, 'models'>;

/** What is wrong in the variables of a vendor whose key is set: the file has the same rules. */
function problemsOf(vendor: VendorFacts, { env }: ConfigurationContext): readonly ConfigProblem[] {
  const secret = secretOf(vendor, env);
  if (vendor.env === undefined || secret === undefined) return [];
  const address = addressOf(vendor, env);
  const why = address === undefined ? undefined : addressProblem(address);
  return [
    ...(isVendorKey(secret) ? [] : [problemAt(0, vendor.env.apiKey, reason('not_one_line'))]),
    ...(why === undefined ? [] : [problemAt(0, vendor.env.baseUrl ?? '', why)]),
  ];
}

/** The vendor's key, without the spaces and line breaks around it. */
function secretOf({ env: names }: VendorFacts, env: ConfigurationContext['env']) {
  const written = names && env[names.apiKey]?.trim();
  return written === '' ? undefined : written;
}

function reach(vendor: VendorFacts, { env }: ConfigurationContext): readonly Reachable[] {
  const secret = secretOf(vendor, env);
  const baseUrl = addressOf(vendor, env);
  if (!secret || (baseUrl ?? vendor.baseUrl) === undefined) return [];
  return [
    {
      name: vendor.id,
      vendor: vendor.id,
      baseUrl,
      secret,
      groups: [defaultGroup.name],
      priority: 0,
      weight: 1,
    },
  ];
}

function addressOf(
  { env: names }: VendorFacts,
  env: ConfigurationContext['env'],
): string | undefined {
  const written = names?.baseUrl === undefined ? undefined : env[names.baseUrl];
  return written === '' ? undefined : written;
}

/** The port of an address that names none. */
const httpPort = 80;

/**
 * Whether the vendor's variable holds a key of this gateway. The demo prints such variables for
 * programs, and a later start in that terminal must send none of its keys to a vendor.
 */
function keyIsOwn(vendor: VendorFacts, { env, ownPort }: ConfigurationContext): boolean {
  const key = vendor.env && env[vendor.env.apiKey];
  if (!key) return false;
  return key === env[ownKeyVariable] || isOwnAddress(addressOf(vendor, env), ownPort);
}

function isOwnAddress(address: string | undefined, ownPort: number | undefined): boolean {
  if (address === undefined || ownPort === undefined || !URL.canParse(address)) return false;
  const { protocol, hostname, port } = new URL(address);
  const local = /^(?:127\.0\.0\.1|localhost|\[::1\])$/.test(hostname);
  return protocol === 'http:' && local && Number(port || httpPort) === ownPort;
}

/** The variable in which documents and the demo keep a key of the gateway. */
const ownKeyVariable = 'TOLLGATE_API_KEY';

const ownKeys = (vendors: readonly VendorFacts[]): readonly string[] =>
  vendors.map(
    ({ id, env }) =>
      `${env?.apiKey} holds a key of this gateway, as ${ownKeyVariable} or the vendor's base URL says: ${id} is not called with it`,
  );

function unreachable(
  vendors: readonly VendorFacts[],
  env: ConfigurationContext['env'],
): readonly string[] {
  return vendors.flatMap((vendor) => {
    const key = vendor.env?.apiKey;
    if (
      key === undefined ||
      !env[key] ||
      vendor.baseUrl !== undefined ||
      addressOf(vendor, env) !== undefined
    )
      return [];
    return [
      `${key} is set, but ${vendor.id} needs its address too: ${vendor.env?.baseUrl ?? 'write a configuration file'}`,
    ];
  });
}

function modelsOf(
  vendor: string,
  bundled: Bundled,
  { serves }: ConfigurationContext,
): Map<string, string> {
  const theirs = modelsOfVendor(vendor, bundled).filter((model) =>
    serves(vendor, model.facts.kind),
  );
  return new Map(theirs.map((model) => [model.facts.id, model.upstream]));
}
