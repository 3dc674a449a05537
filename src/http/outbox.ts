import type { Socket } from 'node:net';

const texts: string[] = [];
const sockets: Socket[] = [];

/**
 * Writes a latin1 text once everything that has already arrived has been handled. Requests that
 * arrived together leave together: a vendor's side that is woken for each of them costs this one
 * more than the write.
 */
export function post(socket: Socket, text: string): void {
  sockets.push(socket);
  if (texts.push(text) === 1) setImmediate(flush);
}

function flush(): void {
  const waiting = sockets.splice(0);
  const said = texts.splice(0);
  for (let i = 0; i < said.length; i += 1) waiting[i]?.write(said[i] ?? '', 'latin1');
}
