import type { Principal } from '../../accounts/principal.ts';
import { pause } from '../../base/clock.ts';
import type { Fault } from '../../base/fault.ts';
import { type Refusal, refuse, unavailable, unavailableRetryMs } from '../../base/refusal.ts';
import type { Offer, Candidate } from '../../catalog/snapshot.ts';
import { channelId } from '../../catalog/snapshot.ts';
import { couldHold } from '../../ledger/ledger.ts';
import type { CallStage } from '../../http/upstream.ts';
import type { Pass } from '../../limits/limiter.ts';
import { isDownloadFailure } from '../../media/downloads.ts';
import { protocolFault } from '../../providers/formats/fault.ts';
import type { VideoMisfit, VideoRequest } from '../../providers/media-request.ts';
import {
  isTaskFault,
  type AcceptedSubmission,
  type VideoCall,
  type TaskAdapter,
} from '../../providers/task-adapter.ts';
import { maySubmitElsewhere } from '../../routing/retry.ts';
import { DatabaseError } from '../../storage/database.ts';
import { LimitReached } from '../admit.ts';
import type { OpenChannel, OpenChannels } from '../channels/open-channels.ts';
import { refusalFor } from '../error-mapping.ts';
import { requireOffer, keyShare, endpointFor, kindsFor } from '../models/offers.ts';
import { limitWindowsOf } from '../reserve.ts';
import { videoBill } from './finish.ts';
import { pollAfterMs, submitLeaseMs, type TaskParts } from './parts.ts';
import {
  acceptTask,
  insertTask,
  assignChannel,
  type ChannelAssignment,
  openTasksOf,
  withdrawTask,
} from './queries.ts';
import type { NewTask, Task } from './task.ts';
import { callVendor } from './vendor-call.ts';

/** The fields that the client gets at once. */
export type SubmittedTask = Pick<
  Task,
  'id' | 'model' | 'seconds' | 'size' | 'createdAt' | 'state' | 'percent'
>;

const moneyLookMs = 150;

/**
 * Submits a task: admits it, commits the task and its hold, calls a vendor, commits the vendor's
 * id. A client that gets an id can always query it. Throws a Refusal (or LimitReached); then there
 * is no task and no hold. Calls `onLimits` with the group's limits after admission.
 */
export async function submitTask(
  parts: TaskParts,
  request: VideoSubmission,
  stop: AbortSignal,
  onLimits: (pass: Pass) => void,
): Promise<SubmittedTask> {
  const { principal } = request;
  const startedMonotonicMs = parts.clock.monotonicMs();
  const offer = requireOffer(parts.catalog(), principal, request.model);
  const video = videoRequestFor(offer, request);
  const candidates = videoCandidates(parts.openChannels, offer, request, video);
  const { name, limits } = offer.group;
  const entered = await parts.limiter.enter(
    `${principal.userId}/${name}`,
    limits,
    0,
    keyShare(principal),
  );
  if ('limitOf' in entered) throw new LimitReached(entered, 0);
  try {
    onLimits(entered);
    // No vendor makes, or bills, a video for which there is no room: those that are being made have
    // theirs.
    const { database, clock } = parts;
    const open = await openTasksOf(database, principal.userId, request.idempotencyKey, clock.now());
    const room = await parts.files.room(principal.userId, open);
    if (room === 'away') throw unavailable(request.id, 'videos cannot be kept');
    if (room === 'full') refuse('too_many_files');
    const ready = await withInlineImages(parts, candidates, request, stop);
    return await new Submission(parts, request, offer, ready, stop, startedMonotonicMs).run();
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    throw unavailable(request.id, 'tasks cannot be recorded');
  } finally {
    entered.finish(0);
  }
}

/**
 * The calls with the bytes of images that their vendor does not read by URL. A failed download is
 * the client's to correct.
 */
async function withInlineImages(
  parts: TaskParts,
  candidates: readonly VideoCandidate[],
  { names, principal }: VideoSubmission,
  stop: AbortSignal,
): Promise<readonly VideoCandidate[]> {
  const isWanted = ({ adapter, call }: VideoCandidate, url: string): boolean =>
    !url.startsWith('data:') && adapter.needsBytes?.(url, call) === true;
  const urls = candidates.flatMap((candidate) =>
    candidate.call.request.images.map(({ url }) => url).filter((url) => isWanted(candidate, url)),
  );
  if (urls.length === 0) return candidates;
  const got = await parts.downloads.all(
    principal.userId,
    [...new Set(urls)].map((url) => ({ url, kind: 'image' })),
    stop,
  );
  if (isDownloadFailure(got)) refuse('invalid_value', { param: names.image, why: got.why });
  return candidates.map((candidate) => {
    const images = candidate.call.request.images.map((image) => {
      const content = isWanted(candidate, image.url) ? got.get(image.url) : undefined;
      return content === undefined
        ? image
        : { ...image, url: `data:${content.type};base64,${content.base64}` };
    });
    return {
      ...candidate,
      call: { ...candidate.call, request: { ...candidate.call.request, images } },
    };
  });
}

/** One admitted submission, from its money to its vendor. */
class Submission {
  readonly #parts: TaskParts;
  readonly #request: VideoSubmission;
  readonly #offer: Offer;
  readonly #candidates: readonly VideoCandidate[];
  readonly #stop: AbortSignal;
  readonly #startedMonotonicMs: number;
  /** The wall clock, ms: every channel has the prices of this moment. */
  readonly #at: number;
  readonly #attempted: VideoCandidate[] = [];

  constructor(
    parts: TaskParts,
    request: VideoSubmission,
    offer: Offer,
    candidates: readonly VideoCandidate[],
    stop: AbortSignal,
    startedMonotonicMs: number,
  ) {
    this.#parts = parts;
    this.#request = request;
    this.#offer = offer;
    this.#candidates = candidates;
    this.#stop = stop;
    this.#startedMonotonicMs = startedMonotonicMs;
    this.#at = parts.clock.now();
  }

  async run(): Promise<SubmittedTask> {
    const first = this.#pick();
    if (first === undefined)
      throw this.#refusalOf({ kind: 'overloaded', message: 'no channel is available' });
    const task = this.#newTask(first);
    const known = await this.#commit(task, first);
    if (known !== undefined) return known;
    let fault: Fault;
    let candidate: VideoCandidate | undefined = first;
    do {
      if (this.#attempted.length > 1 && !(await this.#assign(candidate))) throw this.#tooLate();
      const { submitted, mayRetry } = await this.#submit(candidate);
      if (!isTaskFault(submitted)) {
        if (!(await this.#accept(task.id, submitted.upstreamId))) throw this.#tooLate();
        this.#report(candidate, 200, 'submitted');
        return { ...task, state: 'queued', percent: 0 };
      }
      fault = submitted;
      candidate = mayRetry ? this.#pick() : undefined;
    } while (candidate !== undefined);
    const withdrawn = await this.#parts.database.transact(() => withdrawTask(task));
    if (!withdrawn) throw this.#tooLate();
    const last = this.#attempted.at(-1);
    const why = this.#refusalOf(fault, last);
    this.#report(last, 0, `fault:${fault.kind}`, why);
    throw why;
  }

  #pick(): VideoCandidate | undefined {
    const { health, clock, random, taskLimits } = this.#parts;
    if (this.#attempted.length >= taskLimits.attemptsMax) return undefined;
    const candidate = health.pick(this.#candidates, this.#attempted, clock.monotonicMs(), random);
    if (candidate !== undefined) this.#attempted.push(candidate);
    return candidate;
  }

  #newTask(candidate: VideoCandidate): NewTask {
    const { principal, taskId, idempotencyKey } = this.#request;
    const { model, group } = this.#offer;
    const { seconds } = candidate.call.request;
    return {
      id: taskId,
      account: principal.userId,
      keyId: principal.keyId,
      limits: limitWindowsOf(principal, this.#at, this.#parts.limits.utcOffsetMinutes),
      model: model.id,
      group: group.name,
      seconds,
      size: this.#size(candidate.call.request),
      createdAt: this.#at,
      idempotencyKey,
      ...this.#assignmentTo(candidate),
    };
  }

  /** What the client named, else the one size that every channel is asked for. */
  #size({ size }: VideoCall['request']): string | undefined {
    if (size !== undefined) return size;
    const sizes = new Set(this.#candidates.map(({ adapter, call }) => adapter.size?.(call)));
    return sizes.size === 1 ? [...sizes][0] : undefined;
  }

  #assignmentTo({ channel, adapter, call }: VideoCandidate): ChannelAssignment {
    const variants = adapter.variants(call);
    const tariff = this.#offer.tariff.terms?.plainAt(this.#at) ?? this.#offer.tariff;
    const { total, text } = videoBill(
      tariff,
      { second: call.request.seconds, ...adapter.quantitiesMax?.(call) },
      variants,
    );
    return {
      channel: channelId(channel),
      upstreamModel: call.upstreamModel,
      variants,
      cost: total,
      bill: text,
    };
  }

  /**
   * Commits the money and the task. Holds the cost of the dearest channel, so that a later channel
   * needs no more. Returns the task of an earlier submission with this idempotency key, if there is
   * one: its answer never arrived.
   */
  async #commit(task: NewTask, { channel }: VideoCandidate): Promise<Task | undefined> {
    const { database, taskChannels, clock, timers, taskLimits } = this.#parts;
    const costs = this.#candidates.map((each) => this.#assignmentTo(each).cost);
    const amount = costs.reduce((most, cost) => (cost > most ? cost : most), 1n);
    const { id, account, limits, createdAt } = task;
    const hold = { id, account, amount, limits, at: createdAt };
    const accounts = [account, ...limits.map((window) => window.id)];
    if (this.#request.beforeAttempts !== undefined) {
      if (!(await couldHold(database, [account], amount))) refuse('insufficient_quota');
      await this.#request.beforeAttempts();
    }
    await taskChannels.write(channel);
    const untilMs = clock.monotonicMs() + taskLimits.moneyWaitMs;
    for (;;) {
      const inserted = await database
        .transact(() => insertTask(task, hold, clock.now() + submitLeaseMs(taskLimits)))
        .catch(whenBusy);
      if (inserted.kind === 'inserted') return undefined;
      if (inserted.kind === 'known') {
        if (inserted.task.state === 'new')
          refuse('idempotency_in_progress', {}, unavailableRetryMs);
        return inserted.task;
      }
      const isLate = clock.monotonicMs() >= untilMs;
      if (inserted.kind === 'busy') {
        if (isLate) throw unavailable(this.#request.id, 'accounts cannot be reached');
      } else if (isLate || !(await couldHold(database, accounts, amount)))
        refuse('insufficient_quota');
      await pause(timers, moneyLookMs);
    }
  }

  /** False: another process has given the task up. */
  async #assign(candidate: VideoCandidate): Promise<boolean> {
    const { database, taskChannels, clock, taskLimits } = this.#parts;
    await taskChannels.write(candidate.channel);
    return assignChannel(
      database,
      this.#request.taskId,
      this.#assignmentTo(candidate),
      clock.now() + submitLeaseMs(taskLimits),
    );
  }

  /** `mayRetry`: this vendor has certainly not taken the task, so another may get it. */
  async #submit(
    candidate: VideoCandidate,
  ): Promise<{ readonly submitted: AcceptedSubmission | Fault; readonly mayRetry: boolean }> {
    const { health, clock, timers, taskLimits } = this.#parts;
    const { id, openChannel, adapter, call } = candidate;
    const { replyBytesMax, submit: times } = taskLimits;
    const beganMs = clock.monotonicMs() - this.#startedMonotonicMs;
    const contacted = await callVendor(
      timers,
      openChannel,
      adapter,
      adapter.submit(call),
      call.upstreamModel,
      { replyBytesMax, times },
      this.#stop,
    );
    const submitted =
      'fault' in contacted ? contacted.fault : readSubmitted(candidate, contacted.reply, call);
    if (!isTaskFault(submitted)) {
      health.answered(id, clock.monotonicMs());
      return { submitted, mayRetry: false };
    }
    health.faulted(id, submitted, clock.monotonicMs());
    const isReached = !('stage' in contacted && contacted.stage === 'connecting');
    const mayRetry = maySubmitElsewhere(submitted.kind, isReached);
    this.#failed(candidate, submitted, isReached ? 'waiting' : 'connecting', beganMs, mayRetry);
    return { submitted, mayRetry };
  }

  #failed(
    { channel }: VideoCandidate,
    fault: Fault,
    stage: CallStage,
    beganMs: number,
    mayRetry: boolean,
  ): void {
    const { failed, clock } = this.#parts;
    failed({
      id: this.#request.id,
      channel: channel.name,
      key: channel.moreSecrets === undefined ? undefined : (channel.keyNumber ?? 1),
      model: this.#request.model,
      fault: fault.kind,
      stage,
      why: fault.ofConnection === true ? fault.message : undefined,
      status: undefined,
      beganMs,
      endedMs: clock.monotonicMs() - this.#startedMonotonicMs,
      mayRetry,
    });
  }

  /** Retries until the id is known to be written, or another process has given the task up. */
  async #accept(id: string, upstreamId: string): Promise<boolean> {
    const { database, clock, timers, taskLimits } = this.#parts;
    const untilMs = clock.monotonicMs() + submitLeaseMs(taskLimits);
    for (;;) {
      try {
        return await acceptTask(
          database,
          id,
          upstreamId,
          clock.now() + pollAfterMs(taskLimits, 0, 0),
        );
      } catch (error) {
        if (clock.monotonicMs() >= untilMs) throw error;
        await pause(timers, moneyLookMs);
      }
    }
  }

  /** Another process has given the task up and freed its money, because this one was too slow. */
  #tooLate(): Refusal {
    return unavailable(this.#request.id, 'the task could not be submitted in time');
  }

  #refusalOf(fault: Fault, candidate?: VideoCandidate): Refusal {
    const retryAfterMs = this.#parts.health.retryAfterMs(
      this.#candidates,
      this.#parts.clock.monotonicMs(),
    );
    return refusalFor(fault, this.#request.id, retryAfterMs, candidate?.channel);
  }

  #report(
    candidate: VideoCandidate | undefined,
    status: number,
    outcome: string,
    why?: Refusal,
  ): void {
    const { access, clock } = this.#parts;
    const { id, principal, model } = this.#request;
    const line = {
      id,
      userId: principal.userId,
      keyId: principal.keyId,
      model,
      group: this.#offer.group.name,
      channel: candidate?.channel.name,
      stream: false,
      status,
      outcome,
      attempts: this.#attempted.length,
      inputTokens: 0,
      outputTokens: 0,
      cost: '0',
      firstByteMs: undefined,
      durationMs: clock.monotonicMs() - this.#startedMonotonicMs,
    };
    access(line, why);
  }
}

/** A transaction that certainly did not happen can be repeated. */
function whenBusy(error: unknown): { readonly kind: 'busy' } {
  if (error instanceof DatabaseError && error.kind === 'busy') return { kind: 'busy' };
  throw error;
}

/** A vendor whose answer cannot be read may have taken the task. */
function readSubmitted(
  { adapter }: VideoCandidate,
  reply: Buffer,
  call: VideoCall,
): AcceptedSubmission | Fault {
  try {
    return adapter.readSubmission(reply, call);
  } catch (error) {
    return protocolFault(String(error));
  }
}

/** A submission as its endpoint parsed it. */
export interface VideoSubmission {
  /** The id of the request. */
  readonly id: string;
  readonly taskId: string;
  readonly principal: Principal;
  readonly model: string;
  /** Undefined: the model's default length. */
  readonly seconds: number | undefined;
  readonly options: Omit<VideoRequest, 'seconds'>;
  /** Lengths for models without any in the catalog. */
  readonly usualDurations: readonly number[];
  /** Further lengths that this endpoint accepts. */
  readonly moreSeconds: readonly number[];
  /** The client's names of the request members. */
  readonly names: Readonly<Record<VideoMisfit['param'], string>>;
  readonly idempotencyKey: string | undefined;
  /** As `ClientResponse.beforeAttempts`: awaited before the task is written. */
  readonly beforeAttempts: (() => Promise<void>) | undefined;
}

/** One channel whose model can make the video. */
interface VideoCandidate extends Candidate {
  readonly openChannel: OpenChannel;
  readonly adapter: TaskAdapter;
  readonly call: VideoCall;
}

const usualSeconds = 5;
const listed = (seconds: readonly number[]): string => seconds.toSorted((a, b) => a - b).join(', ');

/**
 * The video request with its length. Throws a Refusal when this model is not for video or does not
 * make such a video.
 */
function videoRequestFor(
  { model }: Offer,
  { options: request, seconds, usualDurations, moreSeconds, names }: VideoSubmission,
): VideoRequest {
  if (!kindsFor.video.includes(model.kind))
    refuse('wrong_endpoint', {
      model: model.id,
      kind: model.kind,
      endpoint: endpointFor[model.kind],
      param: 'model',
    });
  const { modalities, durations = usualDurations } = model;
  if (request.images.length > 0 && modalities !== undefined && !modalities.in.includes('image')) {
    const accepted = modalities.in.join(', ');
    refuse('unsupported_content', {
      model: model.id,
      content: 'image',
      param: names.image,
      accepted,
    });
  }
  if (seconds === undefined)
    return {
      ...request,
      seconds: durations.includes(usualSeconds) ? usualSeconds : Math.min(...durations),
    };
  const allowed = [...new Set([...durations, ...moreSeconds])];
  if (!allowed.includes(seconds))
    refuse('invalid_value', {
      param: names.duration,
      why: `the model '${model.id}' makes videos of ${listed(allowed)} seconds.`,
    });
  return { ...request, seconds };
}

/**
 * The channels that can make the video. Throws a Refusal that names the allowed values where none
 * can, so that nothing is ever shortened silently.
 */
function videoCandidates(
  openChannels: OpenChannels,
  { candidates, model }: Offer,
  request: VideoSubmission,
  video: VideoRequest,
): readonly VideoCandidate[] {
  const able: VideoCandidate[] = [];
  let misfit: VideoMisfit | undefined;
  for (const candidate of candidates) {
    const openChannel = openChannels.of(candidate.channel);
    const adapter = openChannel.taskAdapter('video');
    if (adapter === undefined) continue;
    const { upstreamModel } = candidate;
    const call = { request: video, taskId: request.taskId, publicModel: model.id, upstreamModel };
    const unfit = tooLong(candidate, video) ?? adapter.misfit?.(call);
    if (unfit === undefined) able.push({ ...candidate, openChannel, adapter, call });
    else misfit ??= unfit;
  }
  if (able.length === 0 && misfit !== undefined)
    refuse('invalid_value', { param: request.names[misfit.param], why: misfit.why });
  return able;
}

function tooLong({ durations }: Candidate, { seconds }: VideoRequest): VideoMisfit | undefined {
  if (durations === undefined || durations.includes(seconds)) return undefined;
  return {
    param: 'duration',
    why: `it is not available for this model: it makes videos of ${listed(durations)} seconds.`,
  };
}
