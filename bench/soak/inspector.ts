import { writeFileSync } from 'node:fs';
import { WebSocket } from 'undici';

/** The debugger of a process that was started with `--inspect`. */
export interface Inspector {
  /** Bytes in use after a garbage collection. */
  heapBytes(): Promise<number>;
  /** Writes a snapshot for the memory panel of Chromium's developer tools. */
  snapshot(file: string): Promise<void>;
  close(): void;
}

/** `output`: the process's output, which contains the address. */
export async function inspect(output: string): Promise<Inspector> {
  const url = /Debugger listening on (ws:\S+)/.exec(output)?.[1];
  if (url === undefined) throw new Error(`no debugger in ${output}`);
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  const waiting = new Map<number, (result: unknown) => void>();
  let pieces: string[] = [];
  let calls = 0;
  socket.addEventListener('message', ({ data }) => {
    const { id, method, params, result } = JSON.parse(String(data));
    if (method === 'HeapProfiler.addHeapSnapshotChunk') pieces.push(params.chunk);
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  const call = (method: string, params: object = {}): Promise<unknown> =>
    new Promise((resolve) => {
      waiting.set(++calls, resolve);
      socket.send(JSON.stringify({ id: calls, method, params }));
    });
  return {
    async heapBytes() {
      await call('HeapProfiler.collectGarbage');
      const usage = await call('Runtime.getHeapUsage');
      const used =
        typeof usage === 'object' && usage !== null ? Reflect.get(usage, 'usedSize') : undefined;
      if (typeof used !== 'number') throw new Error(`no heap in ${JSON.stringify(usage)}`);
      return used;
    },
    async snapshot(file) {
      pieces = [];
      await call('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
      writeFileSync(file, pieces.join(''));
    },
    close: () => socket.close(),
  };
}
