// A process of its own for each gateway and its streams: both ends of ten thousand streams use as
// many files as a process may have open.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Choir, choir } from '../cost/client.ts';
import { processorNs, requestText, streamed } from '../cost/cost.ts';
import { hireGateway } from '../cost/payers.ts';
import { type Prompter, startPrompter } from '../cost/vendor.ts';
import { freePort } from '../../test/support/free-port.ts';
import { find, listening, memoryMb, place } from '../process.ts';
import { startNginx } from '../vendor.ts';
import type { Opened, Order, Who } from './streams.ts';

/** New streams at a time. */
const openedAtOnce = 250;
const warmRounds = 8;
const warmWords = 10;
/**
 * A few of the open streams: the cost of a chunk when its stream's memory was used a moment before.
 */
const fewStreams = 16;
/** For nginx: it closes clients without a request when a sixteenth of its connections is left. */
const connectionsEach = 3;

interface Actor {
  readonly pid: number;
  readonly port: number;
  readonly key: string;
  readonly vendor: Prompter;
  stop(): Promise<void>;
}

const [who = 'Tollgate', count = '1'] = process.argv.slice(2);
const actor = await (who === ('nginx' satisfies Who) ? proxy(Number(count)) : gateway());
// Waking a process on another core costs the waker several microseconds, so the cores must not be
// chance.
place('around', process.pid);
place('measured', actor.pid);
const request = (): string => requestText(actor.key, streamed);
let voices: Choir | undefined;
let heard = 0;
let sayToFew: (() => void) | undefined;

process.on('message', (order: Order) => {
  void follow(order).then(
    (figure) => process.send?.(figure),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => {
  voices?.close();
  void actor.stop().then(() => process.exit(0));
});
process.send?.('ready');

async function follow(order: Order): Promise<number | Opened> {
  switch (order.do) {
    case 'open':
      return open(Number(count));
    case 'speak':
      return speak(order.words, () => actor.vendor.say(1));
    case 'speak to few':
      return speak(order.words, (sayToFew ??= actor.vendor.few(fewStreams)));
    case 'speak to all':
      return speakToAll(order.words);
    case 'rest':
      return rest(order.ms);
  }
}

async function gateway(): Promise<Actor> {
  const { payer, stop } = await hireGateway();
  return { pid: payer.pid, port: payer.port, key: payer.keys[0] ?? '', vendor: payer.vendor, stop };
}

/** The cost of a stream in a plain proxy: the lower bound. */
async function proxy(streams: number): Promise<Actor> {
  const nginx = find('nginx');
  if (nginx === undefined) throw new Error('nginx is not installed');
  const vendor = await startPrompter();
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-growth-'));
  const port = await freePort();
  const servers = `
  upstream vendor { server 127.0.0.1:${vendor.port}; keepalive 512; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / { proxy_pass http://vendor; proxy_http_version 1.1; proxy_set_header Connection ''; proxy_buffering off; proxy_read_timeout 3600s; }
  }`;
  const started = startNginx(
    folder,
    'proxy',
    'any',
    nginx,
    servers,
    connectionsEach * (streams + openedAtOnce),
  );
  await listening(port, started);
  return {
    pid: started.pid,
    port,
    key: 'none',
    vendor,
    async stop() {
      await started.stop();
      vendor.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function open(streams: number): Promise<Opened> {
  await warm();
  const before = memoryMb(actor.pid);
  const one = await choir(actor.port, streams);
  for (let opened = 0; opened < streams; ) {
    const to = Math.min(opened + openedAtOnce, streams);
    one.begin(request, opened, to);
    opened = to;
    await untilOpen(opened);
  }
  // Every stream has had a word.
  actor.vendor.say();
  await one.words(streams);
  voices = one;
  heard = streams;
  return {
    kbEach: ((memoryMb(actor.pid) - before) * 1024) / streams,
    port: actor.port,
    key: actor.key,
  };
}

async function untilOpen(streams: number): Promise<void> {
  while (actor.vendor.open() < streams) await wait(2);
}

/**
 * Opens streams first, so that the comparison covers only the memory of the measured ones, and all
 * code has been used equally.
 */
async function warm(): Promise<void> {
  const one = await choir(actor.port, openedAtOnce);
  for (let n = 0; n < warmRounds; n++) {
    one.begin(request);
    await untilOpen(openedAtOnce);
    for (let word = 1; word <= warmWords; word++) {
      actor.vendor.say();
      await one.words(word * openedAtOnce);
    }
    actor.vendor.finish();
    await one.ended();
  }
  one.close();
}

/** One word at a time; processor time of each, ns. */
async function speak(words: number, say: () => void): Promise<number> {
  const before = processorNs(actor.pid);
  for (let n = 0; n < words; n++) {
    say();
    await voices?.words(++heard);
  }
  return (processorNs(actor.pid) - before) / words;
}

/** A word to each stream at once; processor time of each word, ns. */
async function speakToAll(words: number): Promise<number> {
  const before = processorNs(actor.pid);
  const streams = Number(count);
  const turns = Math.ceil(words / streams);
  for (let n = 0; n < turns; n++) {
    actor.vendor.say();
    heard += streams;
    await voices?.words(heard);
  }
  return (processorNs(actor.pid) - before) / (turns * streams);
}

/** Silence; processor time of a second, ns. */
async function rest(ms: number): Promise<number> {
  const before = processorNs(actor.pid);
  await wait(ms);
  return ((processorNs(actor.pid) - before) * 1_000) / ms;
}
