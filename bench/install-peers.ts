// `npm run bench:peers`: installs the other gateways, once, outside the project
// (`TOLLGATE_BENCH_PEERS`, or the user's cache), and says where the programs of those belong that
// no package registry has.
import { existsSync, rmSync } from 'node:fs';
import { messageOf } from '../src/base/thrown.ts';
import { peers } from './peers/list.ts';
import { folderOf } from './peers/peer.ts';

for (const peer of peers) {
  const folder = folderOf(peer);
  if (peer.installed(folder)) {
    console.log(`${peer.name} ${peer.version} is in ${folder}.`);
    continue;
  }
  console.log(`Installing ${peer.name} ${peer.version} into ${folder}`);
  const existed = existsSync(folder);
  try {
    peer.install(folder);
  } catch (error) {
    if (!existed) rmSync(folder, { recursive: true, force: true });
    const [reason = ''] = messageOf(error).trim().split('\n').slice(-1);
    console.log(`${peer.name} is left out: ${reason}`);
  }
}
