import type { Env } from '../base/env.ts';
import { defaultUsdRatePpm } from '../catalog/bundled.ts';
import { usdRate, usdRateVariable } from '../catalog/configuration.ts';
import { Failure } from './command-io.ts';

export interface UsdRate {
  /** Yuan per dollar, in millionths. */
  readonly ratePpm: bigint;
  /** Where the rate comes from. */
  readonly from: string;
}

/**
 * The first that is set: the option; `theirs`, the rate saved by another installation; the
 * environment; the default.
 */
export function usdRateOf(
  option: string | undefined,
  env: Env,
  theirs?: readonly [from: string, text: string | undefined],
): UsdRate {
  const named = [
    ['--rate', option] as const,
    ...(theirs === undefined ? [] : [theirs]),
    [usdRateVariable, env[usdRateVariable]] as const,
  ];
  const [from, text] = named.find(([, value]) => value !== undefined && value !== '') ?? [];
  if (from === undefined || text === undefined)
    return { ratePpm: defaultUsdRatePpm, from: 'the usual one' };
  const ratePpm = usdRate(text);
  if (typeof ratePpm === 'string') throw new Failure(`${from} ${ratePpm}`);
  return { ratePpm, from };
}
