import type { Fault } from '../base/fault.ts';
import type { Quantities } from '../base/quantities.ts';
import type { VendorRequest } from './adapter.ts';
import type { VideoRequest, VideoMisfit } from './media-request.ts';

/** A wish on its way to one vendor. */
export interface VideoCall {
  readonly request: VideoRequest;
  /**
   * Our own id of the task, which vendors that take one are given as their customer's reference.
   */
  readonly taskId: string;
  readonly publicModel: string;
  readonly upstreamModel: string;
}

/** A task that the vendor has accepted, as it is remembered until its end. */
export interface AcceptedTask {
  /**
   * What `submitted` made of the vendor's answer: opaque to everybody but the adapter, which may
   * put more than one word into it.
   */
  readonly upstreamId: string;
  readonly upstreamModel: string;
  /** As asked for. */
  readonly seconds: number;
}

/** What a vendor says of a submission that it has accepted: where the task can be asked for. */
export interface AcceptedSubmission {
  readonly upstreamId: string;
}

/**
 * How far a task is. `completed` and `failed` are the vendor's explicit ends and nothing else is:
 * `unknown` (a state that nobody wrote down) is asked again until the task's time is over.
 * Cancelled, expired and moderated tasks are `failed`.
 */
export type VendorTaskProgress =
  | { readonly state: 'queued' | 'running' | 'unknown' /** 0 to 100. */; readonly percent?: number }
  | {
      readonly state: 'completed';
      readonly file: TaskFile;
      /**
       * What the vendor has metered; what it does not tell is one request and the seconds asked
       * for.
       */
      readonly quantities?: Quantities;
    }
  | {
      readonly state: 'failed';
      /** The vendor's reason, sanitised; `content_policy` where it did not like the content. */
      readonly fault: Fault;
    };

/** Where the video is. Addresses never reach a client: the file is copied. */
export type TaskFile =
  /** Read without our key, from wherever it is. */
  | { readonly kind: 'address'; readonly url: string }
  /**
   * Read with our key; `path` is under the channel's base URL. Redirects are followed, and only the
   * channel's own host sees the key.
   */
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  /** Has to be asked for: the reply to `ask` is read by `located`. */
  | { readonly kind: 'asked'; readonly ask: VendorRequest };

/**
 * Work that outlives its request, in one wire format: submitted once, asked for until it ends. Pure
 * like every adapter: no I/O, no clock, no price. Replies come with a status of 200 to 299; all
 * others go to `fault`. Of a submission, the kinds `protocol`, `server_error`, `network` and
 * `timeout` mean that the vendor may have accepted it (it is never sent again), every other kind
 * that it has refused. While polling, every fault is asked again later, but for `gone`.
 */
export interface TaskAdapter {
  /** Undefined: this model makes it, as far as this vendor has told. */
  readonly misfit?: (call: VideoCall) => VideoMisfit | undefined;
  /**
   * What the price may distinguish, the most telling name first (`1080p+audio`, `1080p`): the first
   * that the model's price lists decides.
   */
  readonly variants: (call: VideoCall) => readonly string[];
  /**
   * Where the vendor meters something else than seconds and requests: the most of it that this
   * video can come to.
   */
  readonly quantitiesMax?: (call: VideoCall) => Quantities;
  /**
   * Whether the bytes of an image have to be in the request. Absent: the vendor reads addresses
   * itself.
   */
  readonly needsBytes?: (url: string, call: VideoCall) => boolean;
  submit(call: VideoCall): VendorRequest;
  readSubmission(reply: Buffer, call: VideoCall): AcceptedSubmission | Fault;
  poll(task: AcceptedTask): VendorRequest;
  readPoll(reply: Buffer, task: AcceptedTask): VendorTaskProgress | Fault;
  /** For files of the kind `asked`. */
  readonly readFileLocation?: (reply: Buffer, task: AcceptedTask) => TaskFile | Fault;
  /** Stops the vendor's work, where it can be stopped. */
  readonly cancel?: (task: AcceptedTask) => VendorRequest;
  /**
   * `gone`: a poll's reply says that there is no such task, and will not be. In the first minute
   * that is believed of nobody.
   */
  fault(
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    reply: string,
  ): TaskFault;
}

export type TaskFault = Fault & { readonly gone?: true };

export function isTaskFault(
  result: AcceptedSubmission | VendorTaskProgress | TaskFile | Fault,
): result is Fault {
  return 'message' in result;
}
