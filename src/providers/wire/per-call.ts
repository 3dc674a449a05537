import type { Adapter, Call, WholeAdapter } from '../adapter.ts';

/** The one adapter or the other, for each call. `fault` reads the refusals of all of them. */
export function perCall(of: (call: Call) => Adapter, fault: Adapter['fault']): Adapter {
  return {
    ask: (call) => of(call).ask(call),
    read: (reply, contentType, call) => of(call).read(reply, contentType, call),
    stream: (call) => of(call).stream(call),
    collect: (call) => of(call).collect(call),
    parts: (call) => of(call).parts?.(call),
    needsBytes: (medium, call) => of(call).needsBytes?.(medium, call) ?? false,
    unsigned: (call) => of(call).unsigned?.(call) ?? [],
    fault,
  };
}

/** The same for what is answered as a whole. */
export function wholePerCall(
  of: (call: Call) => WholeAdapter,
  { fault, textOnly }: Pick<WholeAdapter, 'fault' | 'textOnly'>,
): WholeAdapter {
  return {
    textOnly,
    parts: (call) => of(call).parts?.(call),
    ask: (call) => of(call).ask(call),
    read: (reply, contentType, call) => of(call).read(reply, contentType, call),
    fault,
  };
}
