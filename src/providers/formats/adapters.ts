import { type Measure, measures, type Quantities } from '../../base/quantities.ts';
import {
  type Adapter,
  type VendorCall,
  type WholeAdapter,
  type VendorAnswer,
  type ImageAdapter,
  translatedCall,
} from '../adapter.ts';

/**
 * An adapter that picks another adapter for each call. `fault` reads the refusals of all of them.
 */
export function perCall(of: (call: VendorCall) => Adapter, fault: Adapter['fault']): Adapter {
  return {
    translate: (call) => translatedCall(of(call), call),
    ask: (call) => of(call).ask(call),
    read: (reply, contentType, call) => of(call).read(reply, contentType, call),
    stream: (call) => of(call).stream(call),
    collect: (call) => of(call).collect(call),
    split: (call) => of(call).split?.(call),
    needsBytes: (medium, call) => of(call).needsBytes?.(medium, call) ?? false,
    unsigned: (call) => of(call).unsigned?.(call) ?? [],
    fault,
  };
}

/** The same for adapters whose answers are always whole. */
export function wholePerCall(
  of: (call: VendorCall) => WholeAdapter,
  { fault, textOnly }: Pick<WholeAdapter, 'fault' | 'textOnly'>,
): WholeAdapter {
  return {
    textOnly,
    split: (call) => of(call).split?.(call),
    ask: (call) => of(call).ask(call),
    read: (reply, contentType, call) => of(call).read(reply, contentType, call),
    fault,
  };
}

/** The sum of the quantities of all parts; undefined when a part reported none. */
export function totalQuantities(answers: readonly VendorAnswer[]): Quantities | undefined {
  const total: Partial<Record<Measure, number>> = {};
  for (const { quantities } of answers) {
    if (quantities === undefined) return undefined;
    for (const measure of measures)
      if (quantities[measure] !== undefined)
        total[measure] = (total[measure] ?? 0) + quantities[measure];
  }
  return total;
}

/**
 * How a chat request's tokens are counted by the vendor, and the member of its reply that holds the
 * count.
 */
export interface ChatCount extends Pick<Adapter, 'ask' | 'fault'> {
  readonly member: string;
}

/** For models whose request has the same form for all image operations. */
export const forAllImageOperations = <Adapter>(adapter: Adapter) => ({
  images: adapter,
  image_edits: adapter,
  image_variations: adapter,
});

/**
 * An image adapter that picks another adapter for each call. `fault` reads the refusals of all of
 * them.
 */
export const picturesPerCall = (
  of: (call: VendorCall) => ImageAdapter,
  fault: ImageAdapter['fault'],
): ImageAdapter => ({
  ask: (call) => of(call).ask(call),
  split: (call) => of(call).split?.(call),
  misfit: (call) => of(call).misfit?.(call),
  read: (reply, contentType, call) => of(call).read(reply, contentType, call),
  isAsync: (call) => of(call).isAsync?.(call) ?? false,
  fault,
});
