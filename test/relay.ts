import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/**
 * A stretch of network in front of a server: cut, it breaks every connection and takes no new one.
 */
export interface Relay {
  /** The given address, through the relay. */
  readonly url: string;
  cut(): void;
  mend(): void;
  /** From now on, bytes of the server are swallowed: it gets everything and answers nothing. */
  mute(): void;
}

export async function relayTo(target: string): Promise<Relay> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let up = true;
  let muted = false;
  const server = createServer((client) => {
    if (!up) {
      client.destroy();
      return;
    }
    const upstream = connect(Number(port), hostname);
    for (const [socket, other] of [[client, upstream] as const, [upstream, client] as const]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
      socket.on('data', (piece: Buffer) => {
        if (socket === client || !muted) other.write(piece);
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const breakAll = (): void => {
    for (const socket of open) socket.destroy();
  };
  onTestFinished(() => {
    breakAll();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the relay has no port');
  const url = new URL(target);
  url.port = String(address.port);
  return {
    url: url.href,
    cut() {
      up = false;
      breakAll();
    },
    mend() {
      up = true;
      muted = false;
    },
    mute() {
      muted = true;
    },
  };
}
