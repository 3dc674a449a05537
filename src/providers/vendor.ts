import type {
  ImageCapability,
  AudioCapability,
  StreamedCapability,
  TaskCapability,
  WholeCapability,
} from '../base/capability.ts';
import type { Fault } from '../base/fault.ts';
import type {
  HttpMethod,
  Adapter,
  BaseAdapter,
  WholeAdapter,
  ImageAdapter,
  StreamedImageAdapter,
  AudioAdapter,
} from './adapter.ts';
import type { TaskAdapter } from './task-adapter.ts';

/** The secret in a header, after `prefix`; nothing for servers without a secret. */
export const secretIn =
  (header: string, prefix = ''): Vendor['sign'] =>
  (secret) =>
    secret === undefined || secret === '' ? {} : { [header]: prefix + secret };

export const bearer: Vendor['sign'] = secretIn('authorization', 'Bearer ');

/** For self-hosted servers: a base URL without a path means their `/v1`. */
export const pathUnderV1 = (prefix: string, path: string): string =>
  prefix === '' ? `/v1${path}` : path;

/** A vendor with defaults: most sign with a bearer token and own their models. */
export function defineVendor(
  vendor: Omit<Vendor, 'sign' | 'ownedBy'> & Partial<Pick<Vendor, 'sign' | 'ownedBy'>>,
): Vendor {
  return { sign: bearer, ownedBy: vendor.id, ...vendor };
}

/** The adapters of a vendor by the capabilities that it has. */
export type VendorAdapters = Readonly<
  Partial<
    Record<StreamedCapability, Adapter> &
      Record<WholeCapability, WholeAdapter> &
      Record<ImageCapability, ImageAdapter | StreamedImageAdapter> &
      Record<AudioCapability, AudioAdapter> &
      Record<TaskCapability, TaskAdapter>
  >
>;

/** A request that is complete but for the headers of its authentication. */
export interface UnsignedRequest {
  readonly method: HttpMethod;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/**
 * The headers that authenticate a request, or the fault that prevents them (`credentials`,
 * `network`, `timeout`: another channel is tried).
 */
export type AuthResult = { readonly headers: Readonly<Record<string, string>> } | Fault;

/**
 * Authenticates a channel's requests. Made once per channel, so that derived keys and tokens live
 * as long as the channel. Returns no promise where it need not wait: a promise costs a turn of the
 * event loop.
 */
export type Authorizer = (outgoing: UnsignedRequest) => AuthResult | Promise<AuthResult>;

/** What an authorizer uses from outside. */
export interface VendorContext {
  /** Milliseconds since 1970: signatures carry the time, tokens end. */
  readonly now: () => number;
  /** A request of the gateway's own, such as to a token server. Rejects without a reply in time. */
  readonly post: (
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string,
  ) => Promise<{ readonly status: number; readonly text: string }>;
}

/** A company that sells models: data and quirks. */
export interface Vendor {
  /** As written in the configuration file. */
  readonly id: string;
  /** Its name in OpenTelemetry's registry (`gen_ai.provider.name`), where that is not its id. */
  readonly provider?: string;
  /** The `owned_by` of its models, where the catalog has none. */
  readonly ownedBy: string;
  /**
   * Default base URL; absent when every installation has its own, and then `base_url` is required.
   */
  readonly baseUrl?: string;
  /** The headers that authenticate a request. Local servers may have no secret. */
  readonly sign: (secret: string | undefined) => Readonly<Record<string, string>>;
  /**
   * For secrets that sign each request, or for which a token has to be fetched. Undefined: `sign`
   * is enough for this secret, and costs nothing per request.
   */
  readonly authorizer?: (
    secret: string | undefined,
    context: VendorContext,
  ) => Authorizer | undefined;
  /**
   * The endings of its hosts beside that of the base URL (`.example.com`). They get the channel's
   * key where an answer names an address there, over TLS.
   */
  readonly domains?: readonly string[];
  /**
   * The whole base URL, where the secret has a part of it (the project of a service account).
   * Called once per channel.
   */
  readonly baseUrlFor?: (baseUrl: string, secret: string | undefined) => string;
  /**
   * The path that replaces the adapter's. `prefix`: the path of the base URL. For vendors with
   * several generations of addresses.
   */
  readonly pathFor?: (prefix: string, path: string, upstreamModel: string) => string;
  /**
   * Its list of models: the path under the base URL (absent: `/models`), and headers that it needs.
   */
  readonly models?: { readonly path: string; readonly headers?: Readonly<Record<string, string>> };
  /** The address of its own console: keys, money, limits. */
  readonly consoleUrl?: string;
  /** Environment variables that make a channel when there is no configuration. */
  readonly env?: { readonly apiKey: string; readonly baseUrl?: string };
  readonly adapters: VendorAdapters;
  /** Its chat takes Anthropic's `cache_control` on parts, messages and tools. */
  readonly readsCacheMarks?: boolean;
  /** It accepts a signature only from the account for which it made it. */
  readonly signsForAccount?: true;
  /** Its models think beyond the output limit. Thinking is bounded by the model's own limit. */
  readonly thinksBeyondLimit?: true;
  /**
   * Whether a model reads more than the request holds, such as web pages, without a tool. Its input
   * is bounded by its context.
   */
  readonly readsBeyond?: (upstreamModel: string) => boolean;
  /** Counts the tokens of a request to this capability. */
  readonly counts?: Readonly<Partial<Record<StreamedCapability, BaseAdapter>>>;
}
