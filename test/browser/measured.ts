import type { Page } from 'playwright-core';

/** One response as it came over the network. */
export interface Sent {
  readonly path: string;
  readonly type: string;
  /** Head and body, packed as they were sent. */
  readonly bytes: number;
}

interface Received {
  readonly requestId: string;
  readonly type: string;
  readonly response: { readonly url: string };
}

/** Keeps what the page fetches from now on; a stream of events counts once it has begun. */
export async function recordTraffic(page: Page): Promise<readonly Sent[]> {
  const client = await page.context().newCDPSession(page);
  const sent: Sent[] = [];
  const begun = new Map<string, Received>();
  client.on('Network.responseReceived', (received: Received) => {
    begun.set(received.requestId, received);
    if (received.type === 'EventSource')
      sent.push({ path: new URL(received.response.url).pathname, type: received.type, bytes: 0 });
  });
  client.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const of = begun.get(requestId);
    if (of !== undefined && of.type !== 'EventSource')
      sent.push({
        path: new URL(of.response.url).pathname,
        type: of.type,
        bytes: encodedDataLength,
      });
  });
  await client.send('Network.enable');
  return sent;
}

/** From now on the page has a quarter of a processor and a line of 10 Mbit/s. */
export async function slowDown(page: Page): Promise<void> {
  const client = await page.context().newCDPSession(page);
  const bytesPerSecond = 10_000_000 / 8;
  await client.send('Network.enable');
  await client.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 20,
    downloadThroughput: bytesPerSecond,
    uploadThroughput: bytesPerSecond,
  });
  await client.send('Emulation.setCPUThrottlingRate', { rate: 4 });
}
