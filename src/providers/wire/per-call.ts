import type { Adapter, Call } from '../adapter.ts';

/** The one adapter or the other, for each call. `fault` reads the refusals of all of them. */
export function perCall(of: (call: Call) => Adapter, fault: Adapter['fault']): Adapter {
  return {
    ask: (call) => of(call).ask(call),
    read: (reply, contentType, call) => of(call).read(reply, contentType, call),
    stream: (call) => of(call).stream(call),
    collect: (call) => of(call).collect(call),
    fault,
  };
}
