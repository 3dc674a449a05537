import types from './data/channel-types.json' with { type: 'json' };
import type { Foreign, ForeignChannel } from './foreign.ts';

/**
 * Channels' types are numbers there (QuantumNous/new-api constant/channel.go, songquanpeng/one-api
 * relay/channeltype/define.go, read 2026-11), and part of an address stands in the code: `path` is
 * what it adds to the base address, `base` where it goes when none is written and our vendor has
 * another address, or none. `pair`: the key is an access key and a secret key, with `|` between. A
 * type that is not in the table speaks a language that no vendor here speaks.
 */
interface ChannelType {
  readonly vendor: string;
  readonly path: string;
  readonly base?: string;
  readonly pair?: boolean;
}

/** Where a channel goes, and as whom. */
export interface Reached {
  readonly vendor: string;
  readonly baseUrl: string | undefined;
  readonly secret: string;
}

const regionPlace = '{region}';

/** Undefined: no vendor here is reached so. */
export function reached(
  { type, baseUrl }: ForeignChannel,
  secret: string,
  kind: Foreign['kind'],
): Reached | undefined {
  const table: Readonly<Record<string, ChannelType | undefined>> = types[kind];
  const found = Object.hasOwn(table, type) ? table[type] : undefined;
  if (found === undefined) return undefined;
  const { vendor, base, path, pair } = found;
  if (base?.includes(regionPlace) === true) return regional(vendor, baseUrl, base, secret);
  const home = baseUrl ?? base;
  const whole = home === undefined ? undefined : withPath(home, path);
  return { vendor, baseUrl: whole, secret: pair === true ? secret.replace('|', ':') : secret };
}

/** The key ends with its region: `ACCESS|SECRET|us-east-1`, or `KEY|us-east-1`. */
function regional(
  vendor: string,
  baseUrl: string | undefined,
  base: string,
  secret: string,
): Reached | undefined {
  const parts = secret.split('|').map((part) => part.trim());
  const region = parts.pop();
  if (region === undefined || !/^[a-z0-9-]{4,30}$/.test(region) || parts.length === 0)
    return undefined;
  return { vendor, baseUrl: baseUrl ?? base.replace(regionPlace, region), secret: parts.join(':') };
}

/** A whole address of one endpoint is cut back to where all of them begin. */
function withPath(home: string, path: string): string {
  const begin = home.replace(/\/+$/, '').replace(/\/chat\/completions$/, '');
  return path !== '' && begin.endsWith(path) ? begin : begin + path;
}
