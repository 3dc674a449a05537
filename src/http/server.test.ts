import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { listenAt, openServer, serverLimits } from './server.ts';

const addresses = ['127.0.0.1', '127.0.0.2'];
vi.mock('node:dns/promises', () => ({
  lookup: async () => addresses.map((address) => ({ address, family: 4 })),
}));

// Only Linux has more than one IPv4 address of its own to begin with.
test.runIf(process.platform === 'linux')(
  'all addresses of localhost lead to one server',
  async () => {
    const server = openServer(serverLimits, () => ({ status: 400, body: '{}', id: 'req_1' }));
    onTestFinished(() => void server.close());
    server.on('request', (_request, response) => response.end('served'));
    let connections = 0;
    server.on('connection', () => {
      connections += 1;
    });
    await listenAt(server, 'localhost', 0);
    const bound = server.address();
    const port = typeof bound === 'object' ? bound?.port : undefined;
    for (const address of addresses) {
      const answer = await fetch(`http://${address}:${port}/`, {
        headers: { connection: 'close' },
      });
      expect(await answer.text()).toBe('served');
    }
    expect(connections).toBe(2);
    await new Promise((closed) => server.close(closed));
    for (const address of addresses)
      await expect(fetch(`http://${address}:${port}/`)).rejects.toThrow(/fetch failed/);
  },
);

const listening = `
  import { listenAt, openServer, serverLimits } from ${JSON.stringify(new URL('./server.ts', import.meta.url).href)};
  const server = openServer(serverLimits, () => ({ status: 400, body: '{}', id: 'req_1' }));
  await listenAt(server, '127.0.0.1', 0);
  console.log(server.address().port);`;

test.runIf(process.platform === 'linux')(
  'a thousand clients connect while the process is busy',
  async () => {
    const args = ['--import', 'tsx', '--input-type=module', '--eval', listening];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [port] = await once(child.stdout, 'data');
    child.kill('SIGSTOP');
    let connected = 0;
    for (let i = 0; i < 1_000; i++) {
      const socket = connect(Number(port), '127.0.0.1', () => {
        connected += 1;
      });
      socket.on('error', () => {});
      onTestFinished(() => void socket.destroy());
    }
    await expect.poll(() => connected).toBe(1_000);
  },
);
