import { type Clock, systemClock } from '../../src/base/clock.ts';
import { buildSnapshot } from '../../src/catalog/build-snapshot.ts';
import { defaultUsdRatePpm, loadBundled } from '../../src/catalog/bundled.ts';
import { loadCatalog, recordConfiguration } from '../../src/catalog/catalog-store.ts';
import type { Snapshot } from '../../src/catalog/snapshot.ts';
import { Cursors } from '../../src/console/cursor.ts';
import type { OperatorContext } from '../../src/console/operator/context.ts';
import { operatorRoutes } from '../../src/console/operator/routes.ts';
import { listFees, serves } from '../../src/app/gateway.ts';
import { vendors } from '../../src/providers/index.ts';
import type { Database } from '../../src/storage/database.ts';
import { openSealer } from '../../src/storage/seal.ts';
import { type Browser, type ConsoleAnswer, newBrowser, startConsole } from './console.ts';
import { configurationFrom } from './running.ts';
import { unexpected } from './unexpected.ts';

/** An operator at the operator routes, without a gateway. */
export interface OperatorConsole {
  readonly url: string;
  readonly database: Database;
  readonly operator: Browser;
  snapshot(): Promise<Snapshot>;
  /** With a new idempotency-key, or this one. */
  post(path: string, body: object, key?: string): Promise<ConsoleAnswer>;
  patch(path: string, version: number, body: object): Promise<ConsoleAnswer>;
  remove(path: string, version: number): Promise<ConsoleAnswer>;
  /** The actions in the audit trail, the latest first. */
  acts(): Promise<readonly string[]>;
}

const sealer = openSealer(Buffer.alloc(32, 7));

export async function startOperatorConsole(
  database: Database,
  configuration: string,
  { clock = systemClock, ...more }: Partial<OperatorContext> & { readonly clock?: Clock } = {},
): Promise<OperatorConsole> {
  await recordConfiguration(database, await configurationFrom(configuration), sealer, clock);
  const snapshot = async () =>
    buildSnapshot(await loadCatalog(database, sealer), serves, listFees());
  const first = await snapshot();
  const rooms: OperatorContext = {
    ...{ database, clock, sealer, vendors },
    cursors: new Cursors(sealer.key('cursors of the console')),
    catalog: () => first,
    bundled: () => loadBundled({ usdRatePpm: defaultUsdRatePpm, today: '2026-11-21' }),
    listFees: listFees(),
    proofs: {},
    attention: [],
    onError: unexpected,
    ...more,
  };
  const url = await startConsole(database, operatorRoutes(rooms), { clock });
  const operator = await newBrowser(url, database, 'operator');
  let forms = 0;
  const write = (
    method: string,
    path: string,
    body: object | undefined,
    headers: Record<string, string>,
  ) => operator.ask(`operator/${path}`, { method, headers, ...(body && { body }) });
  return {
    url,
    database,
    operator,
    snapshot,
    post: (path, body, key = `form-${String(++forms).padStart(6, '0')}`) =>
      write('POST', path, body, { 'idempotency-key': key }),
    patch: (path, version, body) => write('PATCH', path, body, { 'if-match': String(version) }),
    remove: (path, version) => write('DELETE', path, undefined, { 'if-match': String(version) }),
    async acts() {
      const { json } = await operator.ask('operator/audit');
      return json.items.map(
        ({ action, target }: { action: string; target: { id: string } }) =>
          `${action} ${target.id}`,
      );
    },
  };
}

/** The events of an ended stream, in order. */
export function eventsIn(
  text: string,
): readonly { readonly event: string; readonly data: ReturnType<typeof JSON.parse> }[] {
  return text.split('\n\n').flatMap((block) => {
    const event = /^event: (.*)$/m.exec(block)?.[1];
    const data = /^data: (.*)$/m.exec(block)?.[1];
    return event === undefined || data === undefined ? [] : [{ event, data: JSON.parse(data) }];
  });
}
