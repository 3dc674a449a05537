import { setTimeout as wait } from 'node:timers/promises';
import { choir, type Choir } from '../cost/client.ts';
import { type Payer, processorNs, requestText, streamed } from '../cost/cost.ts';
import { type Hired, hireGateway } from '../cost/payers.ts';
import { memoryMb } from '../process.ts';
import { middle } from '../soak/trend.ts';

const slices = 24;
const wordsEach = 400;
/** New streams at a time. */
const openedAtOnce = 250;
/** Of one channel: a channel has 2,048 connections at most. */
const streamsEach = 1_000;

interface Opened {
  readonly count: number;
  readonly hired: Hired;
  readonly choir: Choir;
  words: number;
  readonly kbEach: number;
  readonly chunkNs: number[];
}

/** What a chunk costs while so many streams are open, each of which gets one in turn, and what an open stream needs. */
export async function compareStreams(counts: readonly number[]): Promise<string> {
  const all: Opened[] = [];
  try {
    for (const count of counts) all.push(await open(count));
    for (let slice = -4; slice < slices; slice++) {
      for (const one of all) {
        const ns = await speak(one);
        if (slice >= 0) one.chunkNs.push(ns / wordsEach);
      }
    }
    const first = all[0] === undefined ? 1 : middle(all[0].chunkNs);
    const rows = all.map(({ count, chunkNs, kbEach }) => {
      const memory = count < 500 ? '' : kbEach.toFixed(0);
      return `| ${count.toLocaleString('en')} | ${(middle(chunkNs) / 1_000).toFixed(1)} | ${(middle(chunkNs) / first).toFixed(2)} × | ${memory} |`;
    });
    return `| open streams | CPU µs per chunk | ÷ first | KB per open stream |\n| ---: | ---: | ---: | ---: |\n${rows.join('\n')}`;
  } finally {
    for (const { choir } of all) choir.close();
    await Promise.all(all.map(({ hired }) => hired.stop()));
  }
}

async function open(count: number): Promise<Opened> {
  console.log(`open streams: ${count}`);
  const hired = await hireGateway({ channels: Math.ceil(count / streamsEach) });
  const { payer } = hired;
  await warm(hired);
  const before = memoryMb(payer.pid);
  const one = await choir(payer.port, count);
  for (let opened = 0; opened < count; ) {
    const to = Math.min(opened + openedAtOnce, count);
    one.begin(() => requestText(payer.keys[0] ?? '', streamed), opened, to);
    opened = to;
    await untilOpen(payer, opened);
  }
  // Everyone has had a word.
  payer.vendor.say();
  await one.words(count);
  return { count, hired, choir: one, words: count, kbEach: ((memoryMb(payer.pid) - before) * 1024) / count, chunkNs: [] };
}

async function untilOpen({ vendor }: Payer, count: number): Promise<void> {
  while (vendor.open() < count) await wait(2);
}

/** Streams that were open before, so that what is compared is the memory of those that are. */
async function warm({ payer }: Hired): Promise<void> {
  const one = await choir(payer.port, openedAtOnce);
  for (let n = 0; n < 8; n++) {
    one.begin(() => requestText(payer.keys[0] ?? '', streamed));
    await untilOpen(payer, openedAtOnce);
    payer.vendor.say();
    await one.words(openedAtOnce);
    payer.vendor.finish();
    await one.ended();
  }
  one.close();
}

/** One word at a time, to the next stream; processor time of them all, ns. */
async function speak(one: Opened): Promise<number> {
  const { payer } = one.hired;
  const before = processorNs(payer.pid);
  for (let n = 0; n < wordsEach; n++) {
    payer.vendor.say(1);
    await one.choir.words(++one.words);
  }
  return processorNs(payer.pid) - before;
}
