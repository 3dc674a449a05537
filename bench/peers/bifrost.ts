import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { body, json } from '../contender.ts';
import { freePort } from '../../test/support/free-port.ts';
import { start } from '../process.ts';
import { isStream, kindsOf, type Vendors } from '../vendor.ts';
import { type Peer, programOnly, startedOnce } from './peer.ts';

const key = 'sk-bf-bench';
const prices = 'bifrost-prices.json';
const model = 'instant';
const plenty = 1e12;

/**
 * As its documents set it up for production: a virtual key with a budget and limits, its stores in
 * SQLite, and Go's collector as its tuning guide sets it. Logs leave out what was asked and
 * answered, as all others' do.
 */
export const bifrost: Peer = {
  name: 'Bifrost',
  version: '1.4.19',
  ...programOnly('bifrost-http'),
  contender: async (folder, scratch, vendors) => {
    const port = await freePort();
    const place = join(scratch, 'bifrost');
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'config.json'), JSON.stringify(configuration(place, vendors)));
    // the vendor serves files of this folder
    writeFileSync(join(scratch, prices), JSON.stringify(priceList(vendors)));
    const args = ['-app-dir', place, '-host', '127.0.0.1', '-port', String(port)];
    // It fetches its schema and a list of models from its own site: a closed port refuses at once.
    const env = {
      ...process.env,
      GOGC: '200',
      GOMEMLIMIT: '3600MiB',
      HTTPS_PROXY: 'http://127.0.0.1:9',
    };
    return startedOnce({
      name: 'Bifrost',
      version: bifrost.version,
      target: (kind, request) =>
        kind in vendors.base
          ? {
              url: `http://127.0.0.1:${port}/v1/chat/completions`,
              headers: { ...json, authorization: `Bearer ${key}` },
              body: body(`${kind}/${model}`, isStream(kind), request),
            }
          : undefined,
      start: async () => start('measured', join(folder, 'bifrost-http'), args, env, place),
    });
  },
};

/** A provider for each kind, by the vendor's address without the `/v1` that Bifrost adds. */
function configuration(place: string, vendors: Vendors): object {
  const kinds = kindsOf(vendors);
  const store = (file: string) => ({
    enabled: true,
    type: 'sqlite',
    config: { path: join(place, file) },
  });
  return {
    $schema: 'https://www.getbifrost.ai/schema',
    client: {
      enable_logging: true,
      disable_content_logging: true,
      enforce_auth_on_inference: true,
    },
    framework: {
      pricing: { pricing_url: `${vendors.origin}/${prices}` },
    },
    config_store: store('config.db'),
    logs_store: store('logs.db'),
    providers: Object.fromEntries(
      kinds.map(([kind, base]) => [
        kind,
        {
          keys: [{ name: kind, value: 'bench', models: [], weight: 1 }],
          network_config: { base_url: base.replace(/\/v1$/, '') },
          custom_provider_config: {
            base_provider_type: kind === 'messages' ? 'anthropic' : 'openai',
          },
        },
      ]),
    ),
    governance: {
      budgets: [{ id: 'bench', max_limit: plenty, reset_duration: '1M' }],
      rate_limits: [
        {
          id: 'bench',
          token_max_limit: plenty,
          token_reset_duration: '1m',
          request_max_limit: plenty,
          request_reset_duration: '1m',
        },
      ],
      virtual_keys: [
        {
          id: 'bench',
          name: 'bench',
          value: key,
          is_active: true,
          budget_id: 'bench',
          rate_limit_id: 'bench',
          provider_configs: kinds.map(([kind]) => ({ provider: kind, weight: 1 })),
        },
      ],
    },
  };
}

function priceList(vendors: Vendors): object {
  const price = { mode: 'chat', input_cost_per_token: 2e-6, output_cost_per_token: 3e-6 };
  return Object.fromEntries(
    kindsOf(vendors).map(([kind]) => [`${kind}/${model}`, { provider: kind, ...price }]),
  );
}
