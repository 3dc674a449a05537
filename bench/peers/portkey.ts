import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { body, json } from '../contender.ts';
import { freePort } from '../../test/support/free-port.ts';
import { run, start } from '../process.ts';
import { isStream } from '../vendor.ts';
import { fromRegistry, type Peer } from './peer.ts';

export const portkey: Peer = {
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
  absent: fromRegistry,
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
