import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { setTimeout as wait } from 'node:timers/promises';
import { choir } from '../cost/client.ts';
import { requestText, whole } from '../cost/cost.ts';
import { find } from '../process.ts';
import { middle } from '../soak/trend.ts';
import { said, type Table, times } from './table.ts';

/** The program that passes streams on. */
export type Who = 'Tollgate' | 'nginx';

/** A command to a process of streams (stage.ts); it answers with a figure. */
export type Order =
  | { readonly do: 'open' }
  /** Nanoseconds of each word. */
  | { readonly do: 'speak' | 'speak to few' | 'speak to all'; readonly words: number }
  /** Nanoseconds of a second. */
  | { readonly do: 'rest'; readonly ms: number };

export interface Opened {
  /** Memory of an open stream. */
  readonly kbEach: number;
  readonly port: number;
  readonly key: string;
}

const slices = 14;
const warmSlices = 3;
const wordsEach = 300;
const askedEveryMs = 5;
/** Long enough for a keep-alive comment in each stream, as silent streams get. */
const restMs = 15_500;
/** The memory of fewer streams is lost in the noise. */
const memoryFrom = 500;

class Stage {
  readonly who: Who;
  readonly count: number;
  readonly turns: number[] = [];
  readonly few: number[] = [];
  readonly atOnce: number[] = [];
  waitMs = 0;
  opened: Opened = { kbEach: 0, port: 0, key: '' };
  restNs = 0;
  readonly #child: ChildProcess;

  constructor(who: Who, count: number) {
    this.who = who;
    this.count = count;
    const file = fileURLToPath(new URL('./stage.ts', import.meta.url));
    this.#child = fork(file, [who, String(count)], { execArgv: ['--import', 'tsx'] });
  }

  async ready(): Promise<void> {
    await this.#answer();
  }

  async open(): Promise<void> {
    this.#child.send({ do: 'open' } satisfies Order);
    this.opened = (await this.#answer()) as Opened;
  }

  async figure(order: Order): Promise<number> {
    this.#child.send(order);
    return Number(await this.#answer());
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.disconnect();
    await gone;
  }

  async #answer(): Promise<unknown> {
    const gone = new AbortController();
    const failed = once(this.#child, 'exit', { signal: gone.signal }).then(() => {
      throw new Error(`${this.who} with ${this.count} streams ended`);
    });
    try {
      const [answer] = await Promise.race([once(this.#child, 'message'), failed]);
      return answer;
    } finally {
      gone.abort();
      failed.catch(() => undefined);
    }
  }
}

/**
 * The cost of a chunk while that many streams are open, each of which gets one in turn, and the
 * memory of an open stream; beside nginx's.
 */
export async function compareStreams(counts: readonly number[]): Promise<Table> {
  const names: readonly Who[] = find('nginx') === undefined ? ['Tollgate'] : ['Tollgate', 'nginx'];
  const most = Math.max(...counts);
  const all = counts.flatMap((count) => names.map((who) => new Stage(who, count)));
  try {
    await Promise.all(all.map((stage) => stage.ready()));
    for (const count of counts) {
      console.log(`open streams: ${count}`);
      await Promise.all(all.filter((stage) => stage.count === count).map((stage) => stage.open()));
    }
    for (let slice = -warmSlices; slice < slices; slice++) {
      for (const stage of all) {
        // First all of them, so that no stream has been silent for long.
        const atOnce = await stage.figure({ do: 'speak to all', words: wordsEach });
        const ns = await stage.figure({ do: 'speak', words: wordsEach });
        const few = await stage.figure({ do: 'speak to few', words: wordsEach });
        if (slice < 0) continue;
        stage.atOnce.push(atOnce);
        stage.turns.push(ns);
        stage.few.push(few);
      }
    }
    await Promise.all(
      all.map(async (stage) => {
        stage.restNs = await stage.figure({ do: 'rest', ms: restMs });
      }),
    );
    const largest = all.filter(({ count }) => count === most);
    await Promise.all(
      largest.map(async (stage) => {
        stage.waitMs = await longestWait(stage.opened);
      }),
    );
    return tableOf(all);
  } finally {
    await Promise.all(all.map((stage) => stage.stop()));
  }
}

/** While all streams are silent, one client requests whole responses: its longest wait, ms. */
async function longestWait({ port, key }: Opened): Promise<number> {
  const one = await choir(port, 1);
  const until = performance.now() + restMs;
  while (performance.now() < until) {
    await one.ask(() => requestText(key, whole));
    await wait(askedEveryMs);
  }
  one.close();
  return Math.max(...one.waits);
}

function tableOf(all: readonly Stage[]): Table {
  const firstOf = (who: Who): number => middle(all.find((stage) => stage.who === who)?.turns ?? []);
  return {
    head: [
      '',
      'open streams',
      'CPU µs per chunk',
      '÷ first',
      'all at once',
      'the same few',
      'CPU ms a second, silent',
      'longest wait ms',
      'KB per stream',
    ],
    rows: all
      .toSorted((a, b) => (a.who === b.who ? a.count - b.count : a.who === 'Tollgate' ? -1 : 1))
      .map(({ who, count, turns, atOnce, few, restNs, waitMs, opened }) => [
        who,
        said(count),
        (middle(turns) / 1_000).toFixed(1),
        times(middle(turns) / firstOf(who)),
        (middle(atOnce) / 1_000).toFixed(1),
        (middle(few) / 1_000).toFixed(1),
        (restNs / 1e6).toFixed(1),
        waitMs === 0 ? '' : waitMs.toFixed(0),
        count < memoryFrom ? '' : opened.kbEach.toFixed(0),
      ]),
  };
}
