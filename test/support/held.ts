import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { VendorRequest, VendorCall } from '../../src/providers/adapter.ts';
import type { VendorAdapters, Vendor } from '../../src/providers/vendor.ts';
import { endpointOf, violations } from '../vendor-schemas/index.ts';
import { rubbish } from '../vendor-schemas/rubbish.ts';
import { found } from './violations-found.ts';

// Checks every request of an adapter in any test against the strict tables of test/vendor-schemas:
// a request that the vendor would refuse fails the test that caused it. vitest.config.ts wraps
// vendors with `held`; test/setup.ts fails the test.

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Larger bodies test size, not members. */
const bodyBytesMax = 1024 * 1024;

/**
 * A request that is only meant to get the vendor's own refusal (`Ask.untaken`) need not be valid.
 */
function hold(
  vendor: string,
  { path, body, headers, rest, unsupported: untaken }: VendorRequest,
  { upstreamModel }: VendorCall,
): void {
  if (untaken !== undefined) return;
  if (
    endpointOf(vendor, path) === undefined ||
    rest !== undefined ||
    body.length === 0 ||
    body.length > bodyBytesMax
  )
    return;
  const { testPath = '', currentTestName = '' } = expect.getState();
  const file = relative(root, testPath);
  if (
    rubbish.some(
      (one) =>
        file.startsWith(one.file) && (one.test === undefined || currentTestName.includes(one.test)),
    )
  )
    return;
  for (const complaint of violations(
    vendor,
    path,
    upstreamModel,
    headers,
    JSON.parse(body.toString('utf8')),
  )) {
    found.push(`${vendor} ${path} ${upstreamModel}: ${complaint}`);
    const log = process.env['HELD_LOG'];
    if (log !== undefined)
      appendFileSync(
        log,
        `${JSON.stringify({ file, test: currentTestName, vendor, upstreamModel, complaint })}\n`,
      );
  }
}

/** Wraps a vendor, so that the requests of its adapters are checked. */
export function held<V extends Vendor>(vendor: V): V {
  const speaks: VendorAdapters = new Proxy<VendorAdapters>(vendor.adapters, {
    get(adapters, capability) {
      const adapter: unknown = Reflect.get(adapters, capability);
      if (
        typeof adapter !== 'object' ||
        adapter === null ||
        typeof Reflect.get(adapter, 'ask') !== 'function'
      )
        return adapter;
      return watched(vendor.id, adapter);
    },
  });
  return { ...vendor, adapters: speaks };
}

const proxies = new WeakMap<object, object>();

function watched(vendor: string, adapter: object): object {
  const made =
    proxies.get(adapter) ??
    new Proxy(adapter, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (name !== 'ask' || typeof member !== 'function') return member;
        return (call: VendorCall): VendorRequest => {
          const ask: VendorRequest = Reflect.apply(member, target, [call]);
          hold(vendor, ask, call);
          return ask;
        };
      },
    });
  proxies.set(adapter, made);
  return made;
}
