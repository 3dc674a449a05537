import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Contender, forwardedTarget } from '../contender.ts';
import { freePort } from '../../test/support/free-port.ts';
import { start } from '../process.ts';
import { deployedEnv } from '../tollgate.ts';
import { kindsOf, type Vendors } from '../vendor.ts';

const server = fileURLToPath(new URL('server.mjs', import.meta.url));

/** What Node itself costs: a bare server that does only what no gateway can leave out. */
export const bareNode = (folder: string, vendors: Vendors): Promise<Contender> =>
  floor('bare Node', folder, vendors);

/** The same with all that a request is owed where it is paid for (duties.mjs). */
export const dutifulNode = (folder: string, vendors: Vendors): Promise<Contender> =>
  floor('Node with duties', folder, vendors, 'sk-floor-0123456789abcdefghijklmnopqrstuvwxyz');

/** `key`: the only client's, where it has duties. */
async function floor(
  name: string,
  folder: string,
  vendors: Vendors,
  key?: string,
): Promise<Contender> {
  const port = await freePort();
  const options = {
    port,
    database: join(folder, `${name.replaceAll(' ', '-')}.db`),
    vendors: Object.fromEntries(kindsOf(vendors)),
    key,
  };
  const forwarded = forwardedTarget(port, vendors);
  return {
    name,
    version: process.versions.node,
    target(kind, request) {
      const target = forwarded(kind, request);
      if (target === undefined || key === undefined) return target;
      return { ...target, headers: { ...target.headers, authorization: `Bearer ${key}` } };
    },
    start: async () =>
      start('measured', process.execPath, [server, JSON.stringify(options)], {
        ...process.env,
        ...deployedEnv,
      }),
  };
}
