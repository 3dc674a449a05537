import assert from 'node:assert/strict';
import type { Fault } from '../../../base/fault.ts';
import { isObject, type JsonObject, numberOf, parse, textOf } from '../../../base/json.ts';
import type { Quantities } from '../../../base/quantities.ts';
import type { VideoRequest } from '../../media-request.ts';
import type {
  VendorTaskProgress,
  AcceptedSubmission,
  TaskAdapter,
  TaskFile,
  VideoCall,
} from '../../task-adapter.ts';
import { sanitizeVendorMessage } from '../../vendor-message.ts';
import {
  faultOf,
  faultWithin,
  type FaultHeaders,
  protocolFault,
  type FaultRule,
} from '../fault.ts';
import { fit, type FittedVideo, isMisfit, type VideoRange, rangeOf } from './fit.ts';

/** What several vendors call the roles of images. */
export const imageRoles = {
  first: 'first_frame',
  last: 'last_frame',
  reference: 'reference_image',
} as const;

/** A prompt and its images as the content of a message. */
export const contentOf = ({ prompt, images }: VideoRequest): readonly JsonObject[] => [
  { type: 'text', text: prompt },
  ...images.map(({ url, role }) => ({
    type: 'image_url',
    image_url: { url },
    role: imageRoles[role],
  })),
];

/** Fits requests to what a vendor's models make. */
export interface RangeFitter {
  readonly misfit: NonNullable<TaskAdapter['misfit']>;
  range(call: VideoCall): VideoRange;
  /** For a call that fits. */
  made(call: VideoCall): FittedVideo;
}

export function rangeFitter(ranges: readonly [VideoRange, ...VideoRange[]]): RangeFitter {
  const range = (call: VideoCall): VideoRange => rangeOf(ranges, call);
  return {
    range,
    misfit(call) {
      const fitted = fit(call, range(call));
      return isMisfit(fitted) ? fitted : undefined;
    },
    made(call) {
      const fitted = fit(call, range(call));
      assert(!isMisfit(fitted), 'what a model does not make is not asked of it');
      return fitted;
    },
  };
}

/** The reply as an object, or a fault. */
export function replyObject(reply: Buffer): JsonObject | Fault {
  const body = parse(reply.toString('utf8'));
  return isObject(body) ? body : protocolFault('a reply that is no JSON object');
}

/** The same, where an `error` (or `base_resp`) in the reply means that the request was refused. */
export function acceptedReply(reply: Buffer, faults: readonly FaultRule[]): JsonObject | Fault {
  const body = replyObject(reply);
  return isFaulty(body) ? body : (faultWithin(body, faults) ?? body);
}

/** Whether this is a fault: vendors' replies have no member `kind`. */
export const isFaulty = (body: JsonObject | Fault): body is Fault =>
  'kind' in body && 'message' in body;

const idMax = 500;

/**
 * The submission with a valid id. Without one the reply cannot be read, although the vendor may
 * have accepted the task.
 */
export function submissionOf(
  id: unknown,
  written: (id: string) => string = (one) => one,
): AcceptedSubmission | Fault {
  const text = typeof id === 'number' ? String(id) : textOf(id);
  if (text === undefined || text === '' || text.length > idMax)
    return protocolFault('a submission without the id of its task');
  return { upstreamId: written(text) };
}

/** The submission whose id is in this member of the reply. */
export const submissionIn = (
  body: JsonObject | Fault,
  member: string,
): AcceptedSubmission | Fault => (isFaulty(body) ? body : submissionOf(body[member]));

/**
 * A vendor's names for the states of its tasks. A state in no list is `unknown`, and the task is
 * polled again.
 */
export interface TaskStates {
  readonly queued: readonly string[];
  readonly running: readonly string[];
  readonly completed: readonly string[];
  readonly failed: readonly string[];
}

export function stateOf(value: unknown, states: TaskStates): VendorTaskProgress['state'] {
  const word = textOf(value);
  if (word === undefined) return 'unknown';
  for (const state of ['queued', 'running', 'completed', 'failed'] as const)
    if (states[state].includes(word)) return state;
  return 'unknown';
}

/** The parts of a vendor's reply about a task: its state, why it failed, where its video is. */
export interface TaskReply {
  readonly word: unknown;
  readonly code: unknown;
  readonly message: unknown;
  readonly url: unknown;
  readonly percent?: unknown;
  readonly quantities?: Quantities | undefined;
}

/** The progress of a task, from a reply that holds all of it. */
export function progressOf(
  body: JsonObject | Fault,
  states: TaskStates,
  faults: readonly FaultRule[],
  tell: (body: JsonObject) => TaskReply,
): VendorTaskProgress | Fault {
  if (isFaulty(body)) return body;
  const { word, code, message, url, percent, quantities } = tell(body);
  const state = stateOf(word, states);
  if (state === 'failed') return taskFailure(code, message, faults);
  return state === 'completed' ? finishedAt(url, quantities) : underWay(state, percent);
}

/** A task under way, with the percentage if the vendor sends one. */
export function underWay(
  state: 'queued' | 'running' | 'unknown',
  percent?: unknown,
): VendorTaskProgress {
  const percentage = numberOf(percent);
  return percentage === undefined
    ? { state }
    : { state, percent: Math.min(100, Math.max(0, Math.round(percentage))) };
}

export const failed = (fault: Fault): VendorTaskProgress => ({ state: 'failed', fault });

const moderated =
  /sensitive|moderat|safety|inappropriate|violat|content.?polic|risk control|审核|敏感|违规/i;

/** Why a task failed, by the vendor's code and message. */
export function taskFailure(
  code: unknown,
  message: unknown,
  faults: readonly FaultRule[],
): VendorTaskProgress {
  const text = textOf(message) ?? '';
  const error = { code: code ?? 'failed', message: text };
  const fault = faultWithin({ error }, faults) ?? { kind: 'server_error', message: text };
  const kind =
    fault.kind === 'server_error' && moderated.test(text) ? 'content_policy' : fault.kind;
  const words =
    sanitizeVendorMessage(text) ||
    (typeof code === 'number' ? String(code) : textOf(code)) ||
    'the vendor gave no reason';
  return failed({
    kind,
    message:
      kind === 'content_policy' && !moderated.test(words)
        ? `blocked by content moderation: ${words}`
        : words,
  });
}

/** A finished video behind an address that needs no key. */
export function finishedAt(url: unknown, quantities?: Quantities): VendorTaskProgress | Fault {
  const file = addressOf(url);
  if ('message' in file) return file;
  return { state: 'completed', file, ...(quantities === undefined ? {} : { quantities }) };
}

export function addressOf(url: unknown): TaskFile | Fault {
  const text = textOf(url);
  if (text === undefined || !/^https?:\/\//.test(text))
    return protocolFault('a finished task without its video');
  return { kind: 'address', url: text };
}

/**
 * Makes the `fault` of an adapter: a 404 in the vendor's own format means that the task is gone.
 */
export function taskFault(
  faults: readonly FaultRule[],
  gone: (body: JsonObject) => boolean = () => false,
): TaskAdapter['fault'] {
  return (status: number, headers: FaultHeaders, reply: string) => {
    const fault = faultOf(status, headers, reply, faults);
    const body = parse(reply);
    return isObject(body) && (status === 404 || gone(body)) ? { ...fault, gone: true } : fault;
  };
}

/** Splits `data:image/png;base64,…` into the type and the base64. */
export function dataParts(
  url: string,
): { readonly type: string; readonly base64: string } | undefined {
  const [, type, base64] = /^data:([\w/+.-]+);base64,(.*)$/s.exec(url) ?? [];
  return type === undefined || base64 === undefined ? undefined : { type, base64 };
}
