import type { Fault } from '../base/fault.ts';
import type { Quantities } from '../base/quantities.ts';
import type { VendorRequest } from './adapter.ts';
import type { VideoRequest, VideoMisfit } from './media-request.ts';

/** A video request to one vendor. */
export interface VideoCall {
  readonly request: VideoRequest;
  /** Tollgate's id of the task, sent as the customer's reference to vendors that take one. */
  readonly taskId: string;
  readonly publicModel: string;
  readonly upstreamModel: string;
}

/** A task that the vendor has accepted, as it is remembered until its end. */
export interface AcceptedTask {
  /**
   * The id that `readSubmission` made of the vendor's answer. Only the adapter interprets it; it
   * may contain several values.
   */
  readonly upstreamId: string;
  readonly upstreamModel: string;
  /** As requested. */
  readonly seconds: number;
}

/** A vendor's answer to a submission that it has accepted: the id by which the task is polled. */
export interface AcceptedSubmission {
  readonly upstreamId: string;
}

/**
 * The progress of a task. Only the vendor's explicit statement makes it `completed` or `failed`:
 * after `unknown` (an undocumented state) it is polled again until the task's time is over.
 * Cancelled, expired and moderated tasks are `failed`.
 */
export type VendorTaskProgress =
  | {
      readonly state: 'queued' | 'running' | 'unknown';
      /** 0 to 100. */
      readonly percent?: number;
    }
  | {
      readonly state: 'completed';
      readonly file: TaskFile;
      /** The quantities that the vendor reports; absent: one request and the requested seconds. */
      readonly quantities?: Quantities;
    }
  | {
      readonly state: 'failed';
      /** The vendor's reason, sanitised; `content_policy` where it rejected the content. */
      readonly fault: Fault;
    };

/** The place of the finished video. Addresses never reach a client: the file is copied. */
export type TaskFile =
  /** Read without the channel's key, from any host. */
  | { readonly kind: 'address'; readonly url: string }
  /**
   * Read with the channel's key; `path` is under the channel's base URL. Redirects are followed,
   * and only the channel's own host receives the key.
   */
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  /** Needs one more request: `readFileLocation` reads the reply to `request`. */
  | { readonly kind: 'request'; readonly request: VendorRequest };

/**
 * Work that outlives its request, in one wire format: submitted once, polled until it ends. Pure
 * like every adapter: no I/O, no clock, no price. `read…` functions get replies with a status of
 * 200 to 299; all others go to `fault`. After a submission, faults of the kinds `protocol`,
 * `server_error`, `network` and `timeout` mean that the vendor may have accepted it (it is never
 * sent again), and faults of every other kind that it has refused it. After a poll, every fault but
 * `gone` leads to another poll.
 */
export interface TaskAdapter {
  /** Undefined: the model can make the video, as far as this vendor documents it. */
  readonly misfit?: (call: VideoCall) => VideoMisfit | undefined;
  /**
   * Names by which the price may distinguish videos, the most specific first (`1080p+audio`,
   * `1080p`): the first that the model's price lists decides.
   */
  readonly variants: (call: VideoCall) => readonly string[];
  /**
   * The size that the vendor is asked for, or that it makes by its page where it is asked for none:
   * `1280x720`. Absent or undefined: only the vendor knows it.
   */
  readonly size?: (call: VideoCall) => string | undefined;
  /**
   * Where the vendor meters other units than seconds and requests: the most units that this video
   * can use.
   */
  readonly quantitiesMax?: (call: VideoCall) => Quantities;
  /**
   * Whether the request must contain the bytes of an image. Absent: the vendor fetches addresses
   * itself.
   */
  readonly needsBytes?: (url: string, call: VideoCall) => boolean;
  submit(call: VideoCall): VendorRequest;
  readSubmission(reply: Buffer, call: VideoCall): AcceptedSubmission | Fault;
  poll(task: AcceptedTask): VendorRequest;
  readPoll(reply: Buffer, task: AcceptedTask): VendorTaskProgress | Fault;
  /** For files of the kind `request`. */
  readonly readFileLocation?: (reply: Buffer, task: AcceptedTask) => TaskFile | Fault;
  /** Cancels the vendor's work. Absent where the vendor cannot cancel. */
  readonly cancel?: (task: AcceptedTask) => VendorRequest;
  /**
   * `gone`: the reply to a poll says that there is no such task, and will not be. In the task's
   * first minute this is not believed.
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
