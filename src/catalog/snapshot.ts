import type { RoutingPolicy } from '../base/routing-policy.ts';
import type { ImageTerms } from './image-terms.ts';
import type { Price, Rates, Tariff } from './price.ts';

export type ModelKind =
  | 'chat'
  | 'completion'
  | 'embedding'
  | 'image'
  | 'transcription'
  | 'speech'
  | 'rerank'
  | 'moderation'
  | 'video';

/** What is known of a model wherever it is written down. */
export interface ModelFacts {
  readonly id: string;
  readonly ownedBy: string;
  readonly kind: ModelKind;
  /** Tokens; undefined = not known, then not enforced. */
  readonly context: number | undefined;
  readonly outputTokensMax: number | undefined;
  /** Undefined = unrestricted. */
  readonly modalities:
    | { readonly in: readonly string[]; readonly out: readonly string[] }
    | undefined;
  /** Output tokens per second at most, for models that think unseen. */
  readonly topSpeed: number | undefined;
  /**
   * Milliseconds without a byte of a stream after which a second channel is asked as well; absent:
   * never.
   */
  readonly hedgeAfterMs?: number | undefined;
  readonly durations: readonly number[] | undefined;
  /** Of models that make pictures. */
  readonly image?: ImageTerms | undefined;
  readonly shutdownDate: string | undefined;
  readonly price: Price;
}

export interface Model extends ModelFacts {
  /** Unix seconds, fixed once recorded. */
  readonly created: number;
}

export interface GroupLimits {
  readonly rpm: number | undefined;
  readonly tpm: number | undefined;
  readonly concurrency: number | undefined;
}

export interface Group {
  readonly name: string;
  /** Price multiplier in millionths: 1.0 = 1_000_000n. */
  readonly multiplierPpm: bigint;
  readonly limits: GroupLimits;
  /** Absent: `weighted`. */
  readonly policy?: RoutingPolicy;
}

/** vendor + base URL + secret + weight. */
export interface ChannelFacts {
  readonly name: string;
  readonly vendor: string;
  readonly baseUrl: string | undefined;
  readonly secret: string | undefined;
  /**
   * Further keys of the same vendor account or of others there: each is asked as if it were a
   * channel.
   */
  readonly moreSecrets?: readonly string[];
  readonly groups: readonly string[];
  /** Lower first. */
  readonly priority: number;
  readonly weight: number;
  /** Public model id → the vendor's id. */
  readonly models: ReadonlyMap<string, string>;
  /**
   * Public model id → the lengths, in seconds, of the videos that it makes over this channel.
   * Absent: as far as the vendor itself knows.
   */
  readonly durations?: ReadonlyMap<string, readonly number[]>;
  /**
   * Its vendor bills the input of requests that are cancelled before their first byte: so do we.
   */
  readonly billsCancelledInput?: true;
  /** Public model id → what the vendor takes for it. Absent: nobody has entered any. */
  readonly costs?: ReadonlyMap<string, Price>;
}

export interface Channel extends ChannelFacts {
  /**
   * Counts the changes of vendor, base URL and secret: a channel that points elsewhere starts with
   * a clean record.
   */
  readonly revision: number;
  /**
   * Drained or switched off: no request is sent there; tasks that it has taken are asked for to
   * their end.
   */
  readonly resting?: true;
  /** Which of its keys `secret` is, from 2 on; absent: the first. */
  readonly keyNumber?: number;
}

/** The channel once for each of its keys. */
export function withEachKey(channel: Channel): readonly Channel[] {
  const { moreSecrets } = channel;
  if (moreSecrets === undefined) return [channel];
  return [channel, ...moreSecrets.map((secret, i) => ({ ...channel, secret, keyNumber: i + 2 }))];
}

/**
 * What health is kept by, and what a task is pinned to: the channel as it is configured now, and
 * the key.
 */
export function channelId({ name, revision, keyNumber }: Channel): string {
  return keyNumber === undefined ? `${name}@${revision}` : `${name}@${revision}#${keyNumber}`;
}

/** One channel that can serve one model; what routing picks among. */
export interface Candidate {
  readonly channel: Channel;
  /** One breaker for each: the channel, its revision and its key. */
  readonly id: string;
  readonly priority: number;
  readonly weight: number;
  readonly upstreamModel: string;
  /** Nano-yuan that the vendor takes for a usual request; absent: nobody has said. */
  readonly cost?: number;
  /** The channel and the model: the two that decide how fast an answer is. */
  readonly pace: string;
  readonly durations?: readonly number[];
  /** The list fees of its vendor's tools, where the model's price takes them. */
  readonly listFees?: Rates;
}

/** What a group may buy: a model, at that group's multiplier, from these channels. */
export interface Offer {
  readonly model: Model;
  readonly group: Group;
  /** The model's price, with the list fees that it takes. */
  readonly price: Price;
  /** This price at the group's multiplier. */
  readonly tariff: Tariff;
  readonly candidates: readonly Candidate[];
}

/** Everything an admission needs to know about what is sold, immutable, swapped whole on change. */
export interface Snapshot {
  readonly version: string;
  readonly groups: ReadonlyMap<string, Group>;
  readonly models: ReadonlyMap<string, Model>;
  readonly channels: ReadonlyMap<string, Channel>;
  /**
   * Undefined when the model does not exist or the group may not use it: the client cannot tell
   * which.
   */
  offer(group: string, model: string): Offer | undefined;
  /** The models that the group can reach, by id. */
  listing(group: string): readonly Model[];
}
