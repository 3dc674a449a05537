import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { body, json } from '../contender.ts';
import { freePort } from '../../test/support/free-port.ts';
import { find, run, start } from '../process.ts';
import { isStream, type Vendors } from '../vendor.ts';
import { fromRegistry, type Peer } from './peer.ts';

export const litellm: Peer = {
  name: 'LiteLLM',
  version: '1.106.0',
  install: (folder) => {
    const python = find('python3');
    if (python === undefined) throw new Error('Python is not installed');
    run(python, ['-m', 'venv', folder]);
    run(join(folder, 'bin/pip'), ['install', '-q', `litellm[proxy]==${litellm.version}`]);
  },
  installed: (folder) => existsSync(join(folder, 'bin/litellm')),
  absent: fromRegistry,
  contender: async (folder, scratch, vendors) => {
    const port = await freePort();
    const config = join(scratch, 'litellm.yaml');
    writeFileSync(config, litellmConfiguration(vendors));
    const args = [
      join(folder, 'bin/litellm'),
      '--config',
      config,
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
      '--telemetry',
      'False',
    ];
    // The peer bundles a price list; without this it downloads a newer one.
    const env = {
      ...process.env,
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      LITELLM_LOG: 'ERROR',
      LITELLM_MODE: 'PRODUCTION',
    };
    return {
      name: 'LiteLLM',
      version: litellm.version,
      target: (kind, request) =>
        kind in vendors.base && kind !== 'messages'
          ? {
              url: `http://127.0.0.1:${port}/v1/chat/completions`,
              headers: { ...json, authorization: 'Bearer sk-bench' },
              body: body(kind, isStream(kind), request),
            }
          : undefined,
      start: async () => start('measured', join(folder, 'bin/python'), args, env),
    };
  },
};

function litellmConfiguration(vendors: Vendors): string {
  const models = Object.entries(vendors.base).map(
    ([kind, base]) =>
      `  - { model_name: ${kind}, litellm_params: { model: openai/instant, api_base: "${base}", api_key: bench } }`,
  );
  return `model_list:\n${models.join('\n')}\ngeneral_settings: { master_key: sk-bench }\n`;
}
