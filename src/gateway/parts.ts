import type { Keyring } from '../accounts/principal.ts';
import type { Clock, Timers } from '../base/clock.ts';
import type { FaultKind } from '../base/fault.ts';
import type { Nano } from '../base/money.ts';
import type { Quantities } from '../base/quantities.ts';
import type { Random } from '../base/random.ts';
import type { Refusal } from '../base/refusal.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import type { SpoolPool } from '../http/spool.ts';
import type { CallStage, UpstreamTimes } from '../http/upstream.ts';
import type { Till } from '../ledger/contract.ts';
import type { Downloads } from '../media/downloads.ts';
import type { Files } from '../media/files.ts';
import type { SharedLimiter } from '../limits/limiter.ts';
import type { SignatureStore } from '../memory/signatures.ts';
import type { Health } from '../routing/candidates.ts';
import type { HedgeBudget } from '../routing/hedge-budget.ts';
import type { AccessLine } from '../telemetry/request-metrics.ts';
import type { Traces } from '../telemetry/traces.ts';
import type { OpenChannels } from './channels/open-channels.ts';
import type { PeriodicChecks } from './periodic-checks.ts';
import type { UnattendedRequests } from './unattended.ts';

/** How long to wait for an answer that the vendor has accepted and delivers later. */
export interface AsyncJobLimits {
  /** Counted from the vendor's acceptance. */
  readonly totalMs: number;
  /**
   * For this long after acceptance, "unknown id" from the vendor is not believed: its nodes may not
   * yet have synchronised.
   */
  readonly goneAfterMs: number;
  /**
   * The pause between two polls; faults double the pause of the vendor's format, up to
   * `everyMsMax`.
   */
  readonly everyMsMin: number;
  readonly everyMsMax: number;
  /** The timeouts of one poll. */
  readonly poll: UpstreamTimes;
}

/** Limits of the pipeline. The caller that opens the gateway can set each, tests above all. */
export interface GatewayLimits {
  /** Attempts for each model of one request at most. */
  readonly attemptsMax: number;
  /** The size of a vendor's whole answer. */
  readonly answerBytesMax: number;
  /** The large bodies of one account's open requests in this process, together. */
  readonly bodyBytesInFlightMax: number;
  /** How much of a vendor's error response is read. */
  readonly faultBytesMax: number;
  /** How long a stream waits for money. */
  readonly moneyWaitMs: number;
  /**
   * Token counts are free. One key gets this many a minute where its group has no request limit.
   */
  readonly countsPerMinute: number;
  /** Silence on a client's stream before a comment is sent. */
  readonly keepAliveMs: number;
  /**
   * A vendor's stream that brings only comments, or events without content, for this long is ended.
   */
  readonly emptyMs: number;
  /** A client that reads nothing of its stream for this long counts as gone. */
  readonly stalledMs: number;
  /** Where the days and months of key limits begin: minutes east of Greenwich. */
  readonly utcOffsetMinutes: number;
  /** The timeouts of calls whose answer comes whole. */
  readonly whole: UpstreamTimes;
  readonly asyncJobs: AsyncJobLimits;
  /** The timeouts of calls whose answer is a stream. */
  readonly stream: UpstreamTimes;
}

export const gatewayLimits: GatewayLimits = {
  attemptsMax: 4,
  answerBytesMax: 64 * 1024 * 1024,
  bodyBytesInFlightMax: 256 * 1024 * 1024,
  faultBytesMax: 256 * 1024,
  moneyWaitMs: 1_500,
  countsPerMinute: 300,
  keepAliveMs: 15_000,
  // Some vendors queue requests behind comments, and 100,000 tokens of unseen thinking take half an
  // hour.
  emptyMs: 1_800_000,
  stalledMs: 120_000,
  utcOffsetMinutes: 480,
  // A whole answer of a reasoning model takes minutes before its first byte.
  whole: { firstByteTimeoutMs: 600_000, idleTimeoutMs: 120_000 },
  stream: { firstByteTimeoutMs: 300_000, idleTimeoutMs: 300_000 },
  asyncJobs: {
    totalMs: 300_000,
    goneAfterMs: 60_000,
    everyMsMin: 200,
    everyMsMax: 15_000,
    poll: { firstByteTimeoutMs: 15_000, idleTimeoutMs: 15_000 },
  },
};

/** One attempt that failed: what an operator needs to find the channel at fault. */
export interface FailedAttempt {
  readonly id: string;
  readonly channel: string;
  /** The number of the channel's key, from 1, where the channel has several. */
  readonly key: number | undefined;
  readonly model: string;
  readonly fault: FaultKind;
  readonly stage: CallStage;
  /** The connection's error, where no connection came about. */
  readonly why: string | undefined;
  /** The status of the vendor's response; undefined: none came. */
  readonly status: number | undefined;
  /** Milliseconds since the request began. */
  readonly beganMs: number;
  readonly endedMs: number;
  /** The fault allows another attempt. */
  readonly mayRetry: boolean;
}

/**
 * An answer beyond the bound of its request: the vendor reported more, or did not end its stream.
 */
export interface OverrunAnswer {
  readonly id: string;
  readonly channel: string;
  readonly model: string;
  /**
   * What the operator loses, at our price. 0 for a stream that was ended here: its vendor's bill is
   * not known.
   */
  readonly excess: Nano;
  /** Undefined for a stream that was ended here. */
  readonly reported: Quantities | undefined;
}

/** What became of a request that two channels were called for. */
export interface Hedge {
  /** The model that both channels were asked for. Another one may have answered since. */
  readonly model: string;
  readonly first: string;
  readonly second: string;
  /** Whose answer the client got. */
  readonly won: 'first' | 'second' | 'neither';
  /**
   * The channel whose attempt was broken off, and may want its money all the same; undefined: none,
   * since it had failed before.
   */
  readonly brokenOff: string | undefined;
}

/** The same with the request, for the log. */
export interface HedgedRequest extends Hedge {
  readonly id: string;
  /** Input tokens of the delivered answer; the other channel has read them as well. */
  readonly inputTokens: number;
}

/** Everything the pipeline works with, wired once in `app/gateway.ts`. */
export interface GatewayParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: Timers;
  readonly keyring: Keyring;
  readonly limiter: SharedLimiter;
  readonly till: Till;
  readonly health: Health;
  readonly hedges: HedgeBudget;
  readonly limits: GatewayLimits;
  readonly watch: PeriodicChecks;
  readonly unattended: UnattendedRequests;
  readonly catalog: () => Snapshot;
  readonly openChannels: OpenChannels;
  readonly downloads: Downloads;
  readonly spools: SpoolPool;
  readonly files: Files;
  readonly signatures: SignatureStore;
  /** Where requests are traced. */
  readonly traces?: Traces | undefined;
  /**
   * Called when a request that had its money reserved is over. `why`: what the client is told
   * instead of an answer.
   */
  readonly access: (line: AccessLine, why: Refusal | undefined) => void;
  /**
   * Called when a channel failed, which the client may never see. A vendor's message may repeat the
   * prompt, so only the fault's name is passed.
   */
  readonly failed: (line: FailedAttempt) => void;
  readonly hedged: (line: HedgedRequest) => void;
  readonly overran: (line: OverrunAnswer) => void;
}
