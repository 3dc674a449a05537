import { type Case, casesOf } from './cases.ts';
import { ask, exchangeText, type Records } from './client.ts';
import type { Build } from './build.ts';
import { rowsOf, type Serving, whileServing } from './customer.ts';
import { Placeholders } from './placeholders.ts';
import { type Json, parsed, type Recording } from './recordings.ts';
import type { Vendor } from './vendor.ts';

/** The recorded exchanges, in each format of clients. */
export function recordExchanges(build: Build, recordings: readonly Recording[]): Promise<Records> {
  const cases = recordings.flatMap(casesOf);
  return recordPlayed(build, 'exchanges', cases, recordings, (serving, vendor) =>
    playAll(serving, vendor, cases, 'exchange'),
  );
}

/** Serves the cases while `play` runs, and adds what the gateway wrote. */
export async function recordPlayed(
  build: Build,
  part: string,
  cases: readonly Case[],
  recordings: readonly Recording[],
  play: (serving: Serving, vendor: Vendor) => Promise<readonly Played[]>,
  change?: (configuration: Json) => Json,
): Promise<Records> {
  let played: readonly Played[] = [];
  const use = async (serving: Serving, vendor: Vendor): Promise<void> => {
    played = await play(serving, vendor);
  };
  return finish(await whileServing(build, part, cases, recordings, use, change), played);
}

/** The result of one case while the gateway ran. */
export interface Played {
  readonly record: string;
  readonly names: Placeholders;
  readonly requestId: string;
  readonly text: string;
}

/** Every case, one after another. */
export async function playAll(
  { gateway, key }: Serving,
  vendor: Vendor,
  cases: readonly Case[],
  room: string,
): Promise<readonly Played[]> {
  const all: Played[] = [];
  for (const one of cases) {
    vendor.play({ [one.name]: one.recording });
    const headers = { authorization: `Bearer ${key}`, ...one.asked.headers };
    const answer = await ask(gateway.url, { ...one.asked, headers });
    // Late requests of an earlier case may arrive now. Refusals have channels with other names.
    const sent = vendor
      .sent()
      .filter(({ name }) => one.kind === '' || name === '' || name.startsWith(one.name));
    const names = new Placeholders();
    const requestId = String(answer.headers['x-request-id'] ?? answer.headers['request-id'] ?? '');
    all.push({
      record: `${room} ${one.name}`,
      names,
      requestId,
      text: exchangeText(names, sent, answer),
    });
  }
  return all;
}

const times = new Set([
  'reserved_at',
  'finished_at',
  'first_byte_ms',
  'duration_ms',
  'at',
  'time',
  'firstByteMs',
  'durationMs',
  'vendorMs',
]);
const withoutTimes = (row: Json): string =>
  JSON.stringify(
    Object.fromEntries(Object.entries<Json>(row).filter(([name]) => !times.has(name))),
    (_, value) => (typeof value === 'bigint' ? String(value) : value),
  );

/**
 * Adds the gateway's rows for each request, without times: usage record, transfer and log lines.
 */
function finish({ gateway }: Serving, played: readonly Played[]): Records {
  const written = new Map<string, string[]>();
  const add = (id: unknown, text: string): void => {
    written.set(String(id), [...(written.get(String(id)) ?? []), text]);
  };
  for (const table of ['usage', 'transfer'])
    for (const row of rowsOf(gateway.data, `SELECT * FROM ${table} ORDER BY id`))
      add(row['id'], `${table}: ${withoutTimes(row)}\n`);
  for (const text of gateway.log().split('\n')) {
    const line = parsed(text);
    if (line?.id !== undefined)
      add(
        line.id,
        `log: ${withoutTimes({ ...line, ...(line.error && { error: line.error.split('\n')[0] }) })}\n`,
      );
  }
  const booksOf = ({ requestId, names }: Played): string =>
    names.in((written.get(requestId) ?? []).join(''));
  return new Map(played.map((one) => [one.record, one.text + booksOf(one)]));
}
