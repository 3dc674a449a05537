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
    onTestFinished(() => server.close());
    server.get('/', (_request, reply) => reply.send('served'));
    let connections = 0;
    server.server.on('connection', () => {
      connections += 1;
    });
    await listenAt(server, 'localhost', 0);
    const { port } = new URL(server.listeningOrigin);
    for (const address of addresses) {
      const answer = await fetch(`http://${address}:${port}/`, {
        headers: { connection: 'close' },
      });
      expect(await answer.text()).toBe('served');
    }
    expect(connections).toBe(2);
    await server.close();
    for (const address of addresses)
      await expect(fetch(`http://${address}:${port}/`)).rejects.toThrow(/fetch failed/);
  },
);
