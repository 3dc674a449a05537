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

/** What a vendor can be asked, and how. */
export type VendorAdapters = Readonly<
  Partial<
    Record<StreamedCapability, Adapter> &
      Record<WholeCapability, WholeAdapter> &
      Record<ImageCapability, ImageAdapter | StreamedImageAdapter> &
      Record<AudioCapability, AudioAdapter> &
      Record<TaskCapability, TaskAdapter>
  >
>;

/**
 * A request as it is about to leave: its whole address, and all headers but those that prove who we
 * are.
 */
export interface UnsignedRequest {
  readonly method: HttpMethod;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/**
 * What proves who we are for this request, or why that could not be had (`credentials`, `network`,
 * `timeout`: another channel is tried).
 */
export type AuthResult = { readonly headers: Readonly<Record<string, string>> } | Fault;

/**
 * Made once per channel, so that derived keys and tokens live as long as the channel does. Answers
 * at once where it can: a promise costs a turn.
 */
export type Authorizer = (outgoing: UnsignedRequest) => AuthResult | Promise<AuthResult>;

/** What the making of a proof may need from outside. */
export interface VendorContext {
  /** Milliseconds since 1970: signatures carry the time, tokens end. */
  readonly now: () => number;
  /**
   * A small call of our own, to a token server for instance. Rejects when there was no reply in
   * time.
   */
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
  /** The `owned_by` that its models carry where the catalogue says nothing. */
  readonly ownedBy: string;
  /**
   * Default base URL; absent when every installation has its own, and then `base_url` is required.
   */
  readonly baseUrl?: string;
  /** Headers that prove who we are. Local servers may have no secret. */
  readonly sign: (secret: string | undefined) => Readonly<Record<string, string>>;
  /**
   * For secrets whose proof depends on the request or has to be fetched. Undefined: `sign` is proof
   * enough for this secret, and costs nothing per request.
   */
  readonly authorizer?: (
    secret: string | undefined,
    context: VendorContext,
  ) => Authorizer | undefined;
  /**
   * Its hosts beside that of the base URL end like this (`.example.com`). Our key is shown to them
   * when an answer sends us there, over TLS.
   */
  readonly domains?: readonly string[];
  /**
   * The base URL in full, where the secret tells a part of it (the project of a service account).
   * Asked once per channel.
   */
  readonly baseUrlFor?: (baseUrl: string, secret: string | undefined) => string;
  /**
   * What to append to a base URL of this prefix instead of the adapter's path: for vendors with
   * several generations of addresses.
   */
  readonly pathFor?: (prefix: string, path: string, upstreamModel: string) => string;
  /**
   * Its list of models: the path under the base URL (absent: `/models`), and headers that it needs.
   */
  readonly models?: { readonly path: string; readonly headers?: Readonly<Record<string, string>> };
  /** Where its account is looked after in a browser: keys, money, limits. */
  readonly consoleUrl?: string;
  /** Environment variables that make a channel when there is no configuration. */
  readonly env?: { readonly apiKey: string; readonly baseUrl?: string };
  readonly adapters: VendorAdapters;
  /** Its chat takes Anthropic's `cache_control` on parts, messages and tools. */
  readonly readsCacheMarks?: boolean;
  /** What it signs is worth something to the same account alone. */
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
