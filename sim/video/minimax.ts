import { randomUUID } from 'node:crypto';
import { keyIn, problemAt } from '../task-handler.ts';
import type { Reply } from '../dialect.ts';
import { minimax } from '../dialects/minimax.ts';
import { object as members, list, text } from '../json.ts';
import {
  either,
  listOf,
  object,
  oneOf,
  imageValue,
  type Shape,
  whole,
  textValue,
  wrongWith,
} from './check.ts';
import {
  type VideoCall,
  pixels,
  secondsOf,
  type Submission,
  type VideoHandler,
} from './handler.ts';
import { type SimTask, taskOf, type TaskState } from './task.ts';

const first: Shape = {
  model: textValue(100),
  'prompt?': textValue(2_000, 0),
  'duration?': oneOf(6, 10),
  'resolution?': oneOf('512P', '720P', '768P', '1080P'),
  'first_frame_image?': imageValue,
  'last_frame_image?': imageValue,
};

const place = { url: imageValue };
const second: Shape = {
  model: textValue(100),
  content: listOf(
    either(
      object({ type: oneOf('text'), text: textValue(7_000) }),
      object({
        type: oneOf('image_url'),
        image_url: object(place),
        role: oneOf('first_frame', 'last_frame', 'reference_image'),
      }),
    ),
    10,
  ),
  'resolution?': oneOf('2K'),
  'duration?': whole(5, 15),
  'ratio?': oneOf('16:9', '9:16', '1:1', '4:3', '3:4', '21:9', 'adaptive'),
};

const refused = (call: VideoCall, message: string): Reply =>
  minimax.refuse(problemAt(call, 'bad_request', `invalid params, ${message}`));
const fine = { status_code: 0, status_msg: 'success' } as const;

function submitFirst(call: VideoCall): Reply | Submission {
  const { raw } = call;
  const named = text(raw['model']) ?? '';
  const resolution = text(raw['resolution']) ?? '768P';
  const begins = raw['first_frame_image'] !== undefined;
  const wrong =
    wrongWith(raw, first) ??
    (raw['duration'] === 10 && resolution === '1080P'
      ? 'duration 10 is not supported at 1080P'
      : undefined) ??
    (resolution === '512P' && !begins ? '512P needs first_frame_image' : undefined) ??
    (/-Fast/.test(named) && !begins ? 'first_frame_image is required' : undefined) ??
    (!begins && !raw['prompt'] ? 'prompt is required' : undefined);
  if (wrong !== undefined) return refused(call, wrong);
  return {
    request: {
      named,
      prompt: text(raw['prompt']) ?? '',
      seconds: Number(raw['duration'] ?? 6),
      ...pixels(resolution),
    },
    accepted: (task_id) => ({ status: 200, body: { task_id, base_resp: fine } }),
  };
}

const firstStates: Readonly<Record<TaskState, string>> = {
  queued: 'Queueing',
  running: 'Processing',
  odd: 'Polishing',
  done: 'Success',
  failed: 'Fail',
  moderated: 'Fail',
  cancelled: 'Fail',
};

function reportFirst({ id, state, request: { width, height } }: SimTask): Reply {
  const base =
    state === 'moderated'
      ? { status_code: 1027, status_msg: 'output new_sensitive' }
      : state === 'failed'
        ? { status_code: 1000, status_msg: 'unknown error' }
        : fine;
  const video =
    state === 'done' ? { file_id: id, video_width: width, video_height: height } : { file_id: '' };
  return {
    status: 200,
    body: { task_id: id, status: firstStates[state], ...video, base_resp: base },
  };
}

const secondStates: Readonly<Record<TaskState, string>> = {
  queued: 'queued',
  running: 'running',
  odd: 'polishing',
  done: 'succeeded',
  failed: 'failed',
  moderated: 'failed',
  cancelled: 'cancelled',
};

function submitSecond(call: VideoCall): Reply | Submission {
  const { raw } = call;
  const named = text(raw['model']) ?? '';
  const roles = new Set(list(raw['content']).map((part) => members(part)['role']));
  const mixed =
    roles.has('reference_image') && (roles.has('first_frame') || roles.has('last_frame'));
  const wrong =
    wrongWith(raw, second) ?? (mixed ? 'frames and references exclude each other' : undefined);
  if (wrong !== undefined) return refuseSecond(call, wrong);
  const prompt = list(raw['content'])
    .map((part) => text(members(part)['text']) ?? '')
    .join(' ');
  return {
    request: {
      named,
      prompt,
      seconds: Number(raw['duration'] ?? 5),
      ...pixels('2k', text(raw['ratio'])?.replace('adaptive', '16:9')),
    },
    accepted: (task_id) => ({ status: 200, body: { task_id } }),
  };
}

const refuseSecond = ({ path }: VideoCall, message: string, status = 400): Reply => ({
  status,
  body: {
    type: 'error',
    error: {
      type: status === 404 ? 'not_found_error' : 'invalid_request_error',
      message,
      http_code: String(status),
    },
    request_id: `${path.length}${randomUUID()}`,
  },
});

function reportSecond({ id, state, request }: SimTask, url: string): Reply {
  const error =
    state === 'moderated'
      ? { code: '1027', message: 'output new_sensitive' }
      : { code: '1000', message: 'unknown error' };
  const task = {
    id,
    model: request.named.split('+')[0],
    status: secondStates[state],
    ...(state === 'done' && { content: { url }, usage: { total_seconds: request.seconds } }),
    ...((state === 'failed' || state === 'moderated') && { error }),
  };
  return { status: 200, body: { task } };
}

function file(call: VideoCall): Reply {
  const id = call.query.get('file_id') ?? '';
  const task = taskOf(id);
  if (task?.state !== 'done') return refused(call, 'file not found');
  const download_url = `http://${call.headers.host}/films/${id}.mp4`;
  const about = {
    bytes: 0,
    created_at: secondsOf(task),
    filename: 'output.mp4',
    purpose: 'video_generation',
  };
  return { status: 200, body: { file: { file_id: id, ...about, download_url }, base_resp: fine } };
}

const base = '/minimax';

/**
 * Hailuo, and H3 in version 2: platform.minimax.io/docs/api-reference/video-generation, 2026-08.
 */
export const minimaxVideos: VideoHandler = {
  vendor: 'minimax',
  at: /^\/minimax\/(?:v1\/(?:video_generation|query\/video_generation|files\/retrieve)|v2\/)/,
  checkKey: keyIn('authorization', 'Bearer '),
  refuse: minimax.refuse,
  take(call) {
    const { method, path, query } = call;
    if (method === 'POST' && path === `${base}/v1/video_generation`) return submitFirst(call);
    if (method === 'POST' && path === `${base}/v2/video_generation`) return submitSecond(call);
    if (method !== 'GET') return undefined;
    if (path === `${base}/v1/files/retrieve`) return file(call);
    if (path === `${base}/v1/query/video_generation`)
      return {
        id: query.get('task_id') ?? '',
        report: reportFirst,
        unknown: refused(call, 'task not found'),
      };
    const [, id] = /^\/minimax\/v2\/query\/video_generation\/([^/]+)$/.exec(path) ?? [];
    if (id === undefined) return undefined;
    return {
      id: decodeURIComponent(id),
      report: reportSecond,
      unknown: refuseSecond(call, 'task not found', 404),
    };
  },
};
