import { keyIn, problemAt } from '../task-handler.ts';
import type { Reply } from '../dialect.ts';
import { type Rows, fillRow } from '../dialects/base.ts';
import { list, text } from '../json.ts';
import {
  flag,
  listOf,
  oneOf,
  imageValue,
  type Shape,
  whole,
  textValue,
  wrongWith,
} from './check.ts';
import { type VideoCall, pixels, type Submission, type VideoHandler } from './handler.ts';
import { type SimTask, taskOf, type TaskState, withdraw } from './task.ts';

/** platform.vidu.com/docs, 2026-08. */
const rows: Rows = {
  missing_key: { status: 401, type: 'Unauthorized', message: 'Token is missing' },
  wrong_key: { status: 401, type: 'Unauthorized', message: 'Token is invalid' },
  unknown_url: { status: 404, type: 'NotFound', message: 'page not found' },
  unknown_model: { status: 400, type: 'FieldValueInvalid', message: 'model not found: {model}' },
  bad_request: { status: 400, type: 'FieldValueInvalid', message: 'a field is invalid' },
  context: { status: 400, type: 'FieldValueInvalid', message: 'prompt is too long' },
  policy: { status: 400, type: 'AuditSubmitIllegal', message: 'the prompt did not pass the audit' },
  rate: { status: 429, type: 'SystemThrottling', message: 'too many requests' },
  quota: { status: 400, type: 'CreditInsufficient', message: 'insufficient credit' },
  server: { status: 500, type: 'InternalServiceFailure', message: 'internal error' },
  overloaded: { status: 503, type: 'ServiceUnavailable', message: 'service unavailable' },
};

const refuse: VideoHandler['refuse'] = (problem) => {
  const { status, type, message } = fillRow(rows, problem);
  return { status, body: { code: status, reason: type, message, metadata: { trace_id: 'sim' } } };
};

const places: Readonly<Record<string, Shape>> = {
  text2video: {
    prompt: textValue(2_000),
    'aspect_ratio?': oneOf('16:9', '9:16', '4:3', '3:4', '1:1'),
  },
  img2video: { 'prompt?': textValue(2_000, 0), images: listOf(imageValue, 1) },
  'start-end2video': { 'prompt?': textValue(2_000, 0), images: listOf(imageValue, 2, 2) },
  reference2video: {
    prompt: textValue(2_000),
    images: listOf(imageValue, 7),
    'aspect_ratio?': oneOf('16:9', '9:16', '4:3', '3:4', '1:1'),
  },
};

const shared: Shape = {
  model: textValue(100),
  'duration?': whole(1, 16),
  'seed?': whole(0, 2_147_483_647),
  'resolution?': oneOf('360p', '540p', '720p', '1080p', '2K'),
  'movement_amplitude?': oneOf('auto', 'small', 'medium', 'large'),
  'audio?': flag,
  'bgm?': flag,
  'payload?': textValue(1_048_576, 0),
};

function submission(call: VideoCall, shape: Shape): Reply | Submission {
  const { raw } = call;
  const named = text(raw['model']) ?? '';
  const later = named.startsWith('viduq3');
  const wrong =
    wrongWith(raw, { ...shared, ...shape }) ??
    (!later && Number(raw['duration']) > 10 ? 'duration must be at most 10' : undefined) ??
    (!later && raw['audio'] === true ? 'audio is not supported' : undefined) ??
    (/^viduq2-(?:pro|turbo)/.test(named) && list(raw['images']).length === 0
      ? 'images is required'
      : undefined);
  if (wrong !== undefined) return refuse(problemAt(call, 'bad_request', wrong));
  const seconds = Number(raw['duration'] ?? 5);
  const about = {
    model: named.split('+')[0],
    prompt: raw['prompt'],
    images: list(raw['images']).length,
    duration: seconds,
  };
  return {
    request: {
      named,
      prompt: text(raw['prompt']) ?? '',
      seconds,
      ...pixels(text(raw['resolution']) ?? '720p', text(raw['aspect_ratio'])),
    },
    accepted: (task_id) => ({
      status: 200,
      body: {
        task_id,
        state: 'created',
        ...about,
        created_at: new Date(0).toISOString(),
        credits: 4,
      },
    }),
  };
}

const states: Readonly<Record<TaskState, string>> = {
  queued: 'queueing',
  running: 'processing',
  odd: 'upscaling',
  done: 'success',
  failed: 'failed',
  moderated: 'failed',
  cancelled: 'failed',
};

function report({ id, state }: SimTask, url: string): Reply {
  const err_code =
    {
      moderated: 'CreationPolicyViolation',
      failed: 'InternalServiceFailure',
      cancelled: 'TaskCancelled',
    }[String(state)] ?? '';
  const creations =
    state === 'done' ? [{ id: `${id}-1`, url, cover_url: url.replace(/\.mp4$/, '.png') }] : [];
  return {
    status: 200,
    body: { id, state: states[state], err_code, credits: 4, payload: '', creations },
  };
}

const unknown: Reply = {
  status: 404,
  body: { code: 404, reason: 'TaskNotFound', message: 'task not found', metadata: {} },
};

/** Vidu: platform.vidu.com/docs, 2026-08. */
export const viduVideos: VideoHandler = {
  vendor: 'vidu',
  at: /^\/vidu\/ent\/v2\//,
  checkKey: keyIn('authorization', 'Token '),
  refuse,
  take(call) {
    const { method, path } = call;
    const [, place = '', id, what] =
      /^\/vidu\/ent\/v2\/([\w-]+)(?:\/([^/]+)\/(creations|cancel))?$/.exec(path) ?? [];
    const shape = places[place];
    if (method === 'POST' && shape !== undefined && id === undefined)
      return submission(call, shape);
    if (place !== 'tasks' || id === undefined) return undefined;
    if (method === 'GET' && what === 'creations') return { id, report, unknown };
    const task = method === 'POST' && what === 'cancel' ? taskOf(id) : undefined;
    if (task === undefined) return unknown;
    withdraw(task);
    return { status: 200, body: {} };
  },
};
