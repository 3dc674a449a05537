// Loaded into the gateway's processes before the gateway: a constant time, and random bytes that a
// reader can tell from any other text. Ids made of them are letters from A to P, or hexadecimal
// digits of which every second is 0 (`placeholders.ts` recognises them by that).
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { threadId } from 'node:worker_threads';

const now = Number(process.env.NET_NOW);
globalThis.Date = new Proxy(Date, {
  apply: (real) => new real(now).toString(),
  construct: (real, given, target) =>
    Reflect.construct(real, given.length === 0 ? [now] : given, target),
  get: (real, name) => (name === 'now' ? () => now : real[name]),
});

/** mulberry32: the same numbers in each run, others in each process and thread. */
let state = (Number(process.env.NET_SEED) * 1000 + threadId) >>> 0;
function random() {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = Math.imul(state ^ (state >>> 15), state | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
}
Math.random = random;
crypto.randomBytes = (size) =>
  Buffer.from(Array.from({ length: size }, () => Math.floor(random() * 16)));
syncBuiltinESMExports();
