import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { body, json } from '../contender.ts';
import { freePort } from '../../test/support/free-port.ts';
import { start } from '../process.ts';
import { isStream, kindsOf, type Vendors } from '../vendor.ts';
import { type Peer, programOnly, startedOnce } from './peer.ts';

const key = 'sk-bench';

/**
 * As its documents set it up: a master key, usage and its cost in SQLite. Its log of whole requests
 * is off, as it is by default.
 */
export const gomodel: Peer = {
  name: 'GoModel',
  version: '0.1.22',
  ...programOnly('gomodel'),
  contender: async (folder, scratch, vendors) => {
    const port = await freePort();
    const place = join(scratch, 'gomodel');
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'config.yaml'), configuration(port, vendors));
    return startedOnce({
      name: 'GoModel',
      version: gomodel.version,
      target: (kind, request) =>
        kind in vendors.base
          ? {
              url: `http://127.0.0.1:${port}/v1/chat/completions`,
              headers: { ...json, authorization: `Bearer ${key}` },
              body: body(`${kind}/instant`, isStream(kind), request),
            }
          : undefined,
      start: async () => start('measured', join(folder, 'gomodel'), [], process.env, place),
    });
  },
};

/** A provider for each kind. Without a list of models' prices, which it would download. */
function configuration(port: number, vendors: Vendors): string {
  const pricing = '{ currency: USD, input_per_mtok: 2, output_per_mtok: 3 }';
  const providers = kindsOf(vendors).map(
    ([kind, base]) =>
      `  ${kind}: { type: ${kind === 'messages' ? 'anthropic' : 'openai'}, api_key: bench, base_url: "${base}", models: [{ id: instant, metadata: { pricing: ${pricing} } }] }`,
  );
  return `server: { port: "${port}", master_key: ${key} }
models: { configured_provider_models_mode: allowlist }
cache: { model: { model_list: { url: "" } } }
providers:
${providers.join('\n')}
`;
}
