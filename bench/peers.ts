import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Contender, json, body } from './contender.ts';
import { find, freePort, run, start } from './process.ts';
import { isStream, type Vendors } from './vendor.ts';

/** Another gateway, installed outside the project from its package registry. */
export interface Peer {
  readonly name: string;
  readonly version: string;
  /** Puts it into the folder; throws with the reason when it cannot. */
  install(folder: string): void;
  readonly installed: (folder: string) => boolean;
  contender(folder: string, scratch: string, vendors: Vendors): Promise<Contender>;
}

/** Where peers are: `TOLLGATE_BENCH_PEERS`, or the user's cache. */
export const peersFolder =
  process.env['TOLLGATE_BENCH_PEERS'] ??
  join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tollgate-bench');

const portkey: Peer = {
  name: 'Portkey',
  version: '1.15.2',
  install: (folder) => {
    mkdirSync(folder, { recursive: true });
    const server = '1.13.5'; // the last version that works with it
    const about = {
      private: true,
      dependencies: { '@portkey-ai/gateway': '1.15.2', '@hono/node-server': server },
      overrides: { '@hono/node-server': server },
    };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(about));
    run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], {}, folder);
  },
  installed: (folder) => existsSync(portkeyEntry(folder)),
  contender: async (folder, _scratch, vendors) => {
    const port = await freePort();
    return {
      name: 'Portkey',
      version: portkey.version,
      target: (kind, request) => {
        const base = vendors.base[kind];
        if (base === undefined || kind === 'messages') return undefined;
        const headers = {
          ...json,
          authorization: 'Bearer bench',
          'x-portkey-provider': 'openai',
          'x-portkey-custom-host': base,
        };
        return {
          url: `http://127.0.0.1:${port}/v1/chat/completions`,
          headers,
          body: body('instant', isStream(kind), request),
        };
      },
      start: async () =>
        start(
          'measured',
          process.execPath,
          [portkeyEntry(folder), `--port=${port}`, '--headless'],
          {
            ...process.env,
            NODE_ENV: 'production',
          },
        ),
    };
  },
};

const portkeyEntry = (folder: string) =>
  join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js');

const litellm: Peer = {
  name: 'LiteLLM',
  version: '1.106.0',
  install: (folder) => {
    const python = find('python3');
    if (python === undefined) throw new Error('Python is not installed');
    run(python, ['-m', 'venv', folder]);
    run(join(folder, 'bin/pip'), ['install', '-q', `litellm[proxy]==${litellm.version}`]);
  },
  installed: (folder) => existsSync(join(folder, 'bin/litellm')),
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

export const peers: readonly Peer[] = [portkey, litellm];

export const folderOf = (peer: Peer): string =>
  join(peersFolder, `${peer.name.toLowerCase()}-${peer.version}`);
