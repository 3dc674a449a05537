import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Build, commandJson, type Place, type RunningBuild, serve } from './build.ts';
import type { Case } from './cases.ts';
import type { Json, Recording } from './recordings.ts';
import { openVendor, type Vendor } from './vendor.ts';

/** A gateway that serves these cases to one user with much money. */
export interface Serving {
  readonly gateway: RunningBuild;
  readonly place: Place;
  readonly userId: string;
  readonly key: string;
}

const keys: Readonly<Record<string, string>> = {
  bedrock: 'ABSKnet',
  kling: 'access:secret',
  jimeng: 'access:secret',
};
/** A different price for each measure, so that a mix-up shows. */
const price = {
  input: 2,
  cached_input: 0.3,
  cache_write_5m: 3.1,
  cache_write_1h: 5.3,
  output: 7,
  reasoning: 11,
  audio_input: 13,
  audio_output: 17,
  image_input: 19,
  image_output: 23,
  request: 0.000_7,
};
const tools = {
  web_search: 0.029,
  web_fetch: 0.031,
  file_search: 0.037,
  code_session: 0.041,
  grounding_query: 0.043,
  mcp_call: 0.047,
};
const modes = { flex: { times: '1/2' }, fast: { times: 2 } };
const others: Readonly<Record<string, Json>> = {
  image: { ...price, image: 0.42 },
  speech: { character: 0.000_1, output: 7 },
  transcription: { second: 0.01, input: 2, audio_input: 13, output: 7 },
  video: { second: 0.7 },
};
const priceOf = (kind: string): Json =>
  others[kind] ?? (kind === 'chat' ? { ...price, ...tools, modes } : price);
export const modelId = ({ name, upstreamModel }: Case): string => `${name}/${upstreamModel}`;

/**
 * JSON is YAML. Each case has its own model and channel, so that a failure of one does not affect
 * the others.
 */
export function configurationOf(cases: readonly Case[], vendorUrl: string): string {
  const models = cases.map((one) => ({
    id: modelId(one),
    owned_by: one.vendor,
    kind: one.kind,
    context: 10_000_000,
    max_output: 1_000_000,
    price: priceOf(one.kind),
  }));
  const channels = cases.map((one) => ({
    name: one.name,
    vendor: one.vendor,
    base_url: `${vendorUrl}/case/${one.name}${one.prefix}`,
    api_key: keys[one.vendor] ?? 'net-key',
    models: [{ id: modelId(one), upstream: one.upstreamModel }],
  }));
  const limits = { rpm: 100_000_000, tpm: 1_000_000_000_000, concurrency: 1_000 };
  return JSON.stringify({
    groups: [{ name: 'default', price_multiplier: 1, limits }],
    models,
    channels,
  });
}

/** A model that is asked otherwise than by a recording. */
export const soldCase = (name: string, kind = 'chat'): Case => ({
  name,
  kind,
  vendor: 'openai',
  prefix: '/v1',
  upstreamModel: 'gpt-4o',
  recording: undefined,
  asked: { path: '' },
});

/**
 * Serves these cases, with the recordings as their vendor, while `use` runs. `change`: applied to
 * the configuration before it is written.
 */
export async function whileServing(
  build: Build,
  name: string,
  cases: readonly Case[],
  recordings: readonly Recording[],
  use: (serving: Serving, vendor: Vendor) => Promise<void>,
  change?: (configuration: Json) => Json,
): Promise<Serving> {
  const vendor = await openVendor(recordings);
  const serving = await serveCases(build, name, cases, vendor.url, change);
  try {
    await use(serving, vendor);
  } finally {
    await serving.gateway.stop();
    vendor.close();
  }
  return serving;
}

async function serveCases(
  build: Build,
  name: string,
  cases: readonly Case[],
  vendorUrl: string,
  change: (configuration: Json) => Json = (same) => same,
): Promise<Serving> {
  const place = { data: join(build.scratch, name), env: { TOLLGATE_METRICS_TOKEN: 'metrics' } };
  const config = join(build.scratch, `${name}.json`);
  writeFileSync(config, JSON.stringify(change(JSON.parse(configurationOf(cases, vendorUrl)))));
  const gateway = await serve(build, ['--config', config], place);
  const { id: userId = '' } = await commandJson(
    build,
    ['user', 'create', '--name', 'net', '--role', 'operator'],
    place,
  );
  await commandJson(
    build,
    ['user', 'credit', '--user', userId, '--amount', '1000000', '--reason', 'net'],
    place,
  );
  const { key = '' } = await commandJson(
    build,
    ['key', 'create', '--user', userId, '--group', 'default'],
    place,
  );
  return { gateway, place, userId, key };
}

/** SQLite for all versions of Node that the gateway runs on. */
export function rowsOf(data: string, sql: string): readonly Readonly<Record<string, unknown>>[] {
  const require = createRequire(import.meta.url);
  const { DatabaseSync } = require('@photostructure/sqlite');
  const database = new DatabaseSync(join(data, 'tollgate.db'), { readOnly: true });
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}
