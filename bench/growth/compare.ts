import { setTimeout as wait } from 'node:timers/promises';
import { type Choir, choir } from '../cost/client.ts';
import { low, type Payer, processorNs, requestText, streamed, whole } from '../cost/cost.ts';
import { type Hired, hireGateway, type Wish } from '../cost/payers.ts';
import { place } from '../process.ts';
import { middle } from '../soak/trend.ts';
import { type Meter, metersOf, type Reading, readings } from './meters.ts';
import { said, type Table, times } from './table.ts';

/** One size of what may grow, and the gateway that has so much of it. */
export interface Size {
  readonly label: string;
  readonly wish: Wish;
}

const warmRounds = 6;
const warmVoices = 64;
const voices = 16;
const volleys = 24;
const streamWords = 24;
/** Of all keys: what a request costs when what belongs to its key was touched a moment before. */
const fewKeys = 16;
/** How many each kind of slice has, of requests and of chunks. */
const each = voices * volleys;
/** What is written behind the last answer belongs to it. */
const afterMs = 4;

interface Measured extends Size {
  readonly hired: Hired;
  readonly choir: Choir;
  readonly meters: readonly Meter[];
  asked: number;
  readonly requests: Reading[];
  /** Nanoseconds of a request of the few. */
  readonly few: number[];
  readonly chunks: number[];
}

/**
 * What a request and a chunk cost at each size: gateways of all sizes run at the same time and are
 * asked in turn, so that the machine is the same for all. Ratios are to the first whose label ends
 * alike.
 */
export async function compareSizes(
  what: string,
  sizes: readonly Size[],
  rounds: number,
): Promise<Table> {
  const all: Measured[] = [];
  try {
    for (const { label, wish } of sizes) {
      const hired = await hireGateway(wish);
      console.log(`${what}: ${label}`);
      const meters = metersOf(hired.payer.pid, wish.databaseUrl);
      all.push({
        label,
        wish,
        hired,
        meters,
        choir: await choir(hired.payer.port, voices),
        asked: 0,
        requests: [],
        few: [],
        chunks: [],
      });
    }
    await Promise.all(all.map(({ hired }) => useEach(hired)));
    // A side that is woken on another core costs the one that wakes it several microseconds: it
    // must not be chance where they are.
    place('around', process.pid);
    for (const { hired } of all) place('measured', hired.payer.pid);
    for (let round = -warmRounds; round < rounds; round++) await takeRound(all, round >= 0);
    return tableOf(what, all);
  } finally {
    for (const { choir } of all) choir.close();
    await Promise.all(all.map(({ hired }) => hired.stop()));
    place('any', process.pid);
  }
}

/** A slice of each, of a third of a second. Who is first changes. */
async function takeRound(all: readonly Measured[], counts: boolean): Promise<void> {
  for (const one of all) {
    const before = readings(one.meters);
    for (let volley = 0; volley < volleys; volley++)
      await one.choir.ask(() => nextRequest(one, whole));
    await wait(afterMs);
    const spent = readings(one.meters).map((now, n) => (now - (before[n] ?? 0)) / each);
    const few = await fewNs(one);
    const chunk = await chunkNs(one);
    if (!counts) continue;
    one.few.push(few);
    one.requests.push(spent);
    one.chunks.push(chunk);
  }
}

async function fewNs(one: Measured): Promise<number> {
  const { pid, keys } = one.hired.payer;
  let asked = 0;
  const next = (): string =>
    requestText(keys[asked++ % Math.min(keys.length, fewKeys)] ?? '', whole);
  await one.choir.ask(next);
  const before = processorNs(pid);
  for (let volley = 0; volley < volleys; volley++) await one.choir.ask(next);
  await wait(afterMs);
  return (processorNs(pid) - before) / each;
}

/**
 * Words come one at a time: how many a process finds together is chance, and makes more difference
 * than what is measured.
 */
async function chunkNs(one: Measured): Promise<number> {
  const { pid, vendor } = one.hired.payer;
  one.choir.begin(() => nextRequest(one, streamed));
  while (vendor.open() < voices) await wait(0);
  vendor.say();
  await one.choir.words(voices);
  const before = processorNs(pid);
  for (let n = 1; n <= voices * streamWords; n++) {
    vendor.say(1);
    await one.choir.words(voices + n);
  }
  const spent = processorNs(pid) - before;
  vendor.finish();
  await one.choir.ended();
  return spent / (voices * streamWords);
}

function nextRequest(one: Pick<Measured, 'hired' | 'asked'>, json: string): string {
  const { keys } = one.hired.payer;
  return requestText(keys[one.asked++ % keys.length] ?? '', json);
}

/** Each key once: what a first request costs is another question. */
async function useEach({ payer }: { readonly payer: Payer }): Promise<void> {
  const singers = await choir(payer.port, warmVoices);
  let asked = 0;
  const next = (): string => requestText(payer.keys[asked++ % payer.keys.length] ?? '', whole);
  while (asked < payer.keys.length) await singers.ask(next);
  singers.close();
}

function tableOf(what: string, all: readonly Measured[]): Table {
  const [first] = all;
  if (first === undefined) throw new Error('nothing was measured');
  const names = all
    .flatMap(({ meters }) => meters.map(({ name }) => name))
    .filter((name, n, list) => list.indexOf(name) === n);
  const costOf = ({ meters, requests }: Measured, name: string): number | undefined => {
    const at = meters.findIndex((meter) => meter.name === name);
    return at < 0 ? undefined : low(requests.map((reading) => reading[at] ?? 0));
  };
  const shown = (one: Measured, name: string): string => {
    const cost = costOf(one, name);
    return cost === undefined ? '' : (cost / 1_000).toFixed(name.startsWith('KB') ? 1 : 0);
  };
  const [total = '', ...others] = names;
  return {
    head: [
      what,
      total,
      '÷ first',
      'the same 16 keys',
      ...others,
      'CPU µs per chunk',
      '÷ first',
      'p50 ms, 16 at once',
    ],
    rows: all.map((one) => [
      one.label,
      shown(one, total),
      times((costOf(one, total) ?? 0) / (costOf(first, total) ?? 1)),
      (low(one.few) / 1_000).toFixed(0),
      ...others.map((name) => shown(one, name)),
      (low(one.chunks) / 1_000).toFixed(1),
      times(low(one.chunks) / low(first.chunks)),
      middle(one.choir.waits).toFixed(1),
    ]),
  };
}

export const sizesOf = (counts: readonly number[], wishOf: (count: number) => Wish): Size[] =>
  counts.map((count) => ({ label: said(count), wish: wishOf(count) }));
