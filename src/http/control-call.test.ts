import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { callControl } from './control-call.ts';

/** The address of a server that takes requests and never responds. */
async function silentServer(): Promise<string> {
  const server = createServer(() => {});
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}/`;
}

/** Collects garbage often, for the length of this test. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const timer = setInterval(collect, 20);
  onTestFinished(() => clearInterval(timer));
}

const call = { method: 'GET', headers: {} } as const;

test('a call ends at its time limit, also one that a signal can abort, whatever is collected', async () => {
  const url = await silentServer();
  collectGarbage();
  const { signal } = new AbortController();
  const calls = [
    callControl(url, { ...call, timeoutMs: 300 }),
    callControl(url, { ...call, timeoutMs: 300, signal }),
  ];
  for (const one of calls) await expect(one).rejects.toThrow(/time/);
}, 5_000);

test('its signal aborts a call before and while it waits', async () => {
  const url = await silentServer();
  const stop = new AbortController();
  const waiting = callControl(url, { ...call, signal: stop.signal });
  setTimeout(() => stop.abort(), 50);
  await expect(waiting).rejects.toThrow('aborted');
  await expect(callControl(url, { ...call, signal: stop.signal })).rejects.toThrow('aborted');
});
