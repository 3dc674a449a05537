import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Contender, forwardedTarget } from '../contender.ts';
import { freePort, start } from '../process.ts';
import { deployedEnv } from '../tollgate.ts';
import { kindsOf, type Vendors } from '../vendor.ts';

const server = fileURLToPath(new URL('server.mjs', import.meta.url));

/** What Node itself costs: a bare server that does only what no gateway can leave out. */
export async function bareNode(folder: string, vendors: Vendors): Promise<Contender> {
  const port = await freePort();
  const options = {
    port,
    database: join(folder, 'bare-node.db'),
    vendors: Object.fromEntries(kindsOf(vendors)),
  };
  return {
    name: 'bare Node',
    version: process.versions.node,
    target: forwardedTarget(port, vendors),
    start: async () =>
      start('measured', process.execPath, [server, JSON.stringify(options)], {
        ...process.env,
        ...deployedEnv,
      }),
  };
}
