import { setTimeout as wait } from 'node:timers/promises';
import { Agent, fetch, FormData } from 'undici';
import { type Question, questionAt } from './questions.ts';

/** The results of the requests. */
export interface Soaked {
  asked: number;
  /** Responses with status 200 that arrived completely. */
  delivered: number;
  left: number;
  /** Responses of failing vendors, and refusals of invalid requests. */
  failed: number;
  /** Unexpected results by request kind and response, with their times (performance.now). */
  readonly odd: Map<string, number[]>;
}

export interface SoakLoad {
  readonly seen: Soaked;
  /** Lets the last requests end. */
  stop(): Promise<void>;
}

/**
 * When this many requests are open, due ones are skipped: on a machine without time the test would
 * otherwise measure an endless queue instead of the gateway.
 */
const openMax = 48;

/** At most `perSecond` requests, at even intervals. */
export function startSoakLoad(url: string, keys: readonly string[], perSecond: number): SoakLoad {
  const seen: Soaked = { asked: 0, delivered: 0, left: 0, failed: 0, odd: new Map() };
  const agent = new Agent({ connections: 256, pipelining: 1 });
  const open = new Set<Promise<void>>();
  const begun = performance.now();
  let due = 0;
  const timer = setInterval(() => {
    for (; due < ((performance.now() - begun) / 1000) * perSecond; due++) {
      if (open.size >= openMax) continue;
      const one = ask(url, agent, keys[seen.asked % keys.length] ?? '', seen.asked, seen).finally(
        () => open.delete(one),
      );
      open.add(one);
      seen.asked++;
    }
  }, 1000 / perSecond);
  return {
    seen,
    async stop() {
      clearInterval(timer);
      await Promise.race([Promise.allSettled(open), wait(30_000)]);
      await agent.close();
    },
  };
}

async function ask(
  url: string,
  dispatcher: Agent,
  key: string,
  n: number,
  seen: Soaked,
): Promise<void> {
  const question = questionAt(n);
  const body = question.body(n);
  const gone = new AbortController();
  const headers = {
    authorization: `Bearer ${key}`,
    ...(body instanceof FormData ? {} : { 'content-type': 'application/json' }),
  };
  const leaving =
    question.leaves === true ? setTimeout(() => gone.abort(), 60 + (n % 100)) : undefined;
  try {
    const answer = await fetch(url + question.path, {
      method: 'POST',
      dispatcher,
      headers,
      body,
      signal: gone.signal,
    });
    const text = Buffer.from(await answer.arrayBuffer()).toString('latin1');
    if (answer.status === 200 && !text.includes('"error":{')) seen.delivered++;
    else if (question.fails === true) seen.failed++;
    else tell(seen, question, `${answer.status} ${text.slice(0, 200)}`);
  } catch (error) {
    if (gone.signal.aborted) seen.left++;
    else if (question.fails === true) seen.failed++;
    else tell(seen, question, String(error));
  } finally {
    clearTimeout(leaving);
  }
}

function tell(seen: Soaked, { name }: Question, what: string): void {
  const line = `${name}: ${what.replaceAll(/req_\w+/g, 'req_…')}`;
  const known = seen.odd.get(line);
  if (known !== undefined) known.push(performance.now());
  else if (seen.odd.size < 50) seen.odd.set(line, [performance.now()]);
}

const filledBytes = 10 * 2 ** 20;
const filledEach = 40_000;
const fillersAtOnce = 8;

/**
 * Fills the gateway's page cache of its database (8 MB), which would take an hour of modest load
 * and looks like a leak: with stored responses, each as long as forty requests' records.
 */
export async function fillPages(url: string, key: string): Promise<void> {
  const input = 'A gate that asks for its toll. '.repeat(filledEach / 31);
  const body = JSON.stringify({ model: 'gpt-4o', input, max_output_tokens: 16 });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  let left = Math.ceil(filledBytes / body.length);
  const filler = async (): Promise<void> => {
    while (left-- > 0) {
      const answer = await fetch(`${url}/v1/responses`, { method: 'POST', headers, body });
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
    }
  };
  await Promise.all(Array.from({ length: fillersAtOnce }, filler));
}
