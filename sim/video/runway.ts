import { keyIn, pixelsOf, problemAt } from '../task-handler.ts';
import type { Reply } from '../dialect.ts';
import { type Rows, fillRow } from '../dialects/base.ts';
import { text } from '../json.ts';
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
import { type VideoCall, type Submission, type VideoHandler } from './handler.ts';
import { type SimTask, taskOf, type TaskState, withdraw } from './task.ts';

/** docs.dev.runwayml.com/errors, 2026-08. */
const rows: Rows = {
  missing_key: { status: 401, message: 'You did not provide an API key.' },
  wrong_key: { status: 401, message: 'Incorrect API key provided.' },
  unknown_url: { status: 404, message: 'Not found' },
  unknown_model: {
    status: 403,
    message: 'Model variant {model} is not available to your organization.',
  },
  bad_request: { status: 400, message: 'Validation of body failed' },
  context: { status: 400, message: 'Validation of body failed' },
  policy: { status: 400, message: 'Your prompt was flagged by our content moderation.' },
  rate: { status: 429, message: 'You are making too many requests.' },
  quota: { status: 400, message: 'You do not have enough credits to run this task.' },
  server: { status: 500, message: 'Internal server error' },
  overloaded: { status: 503, message: 'We are experiencing high load.' },
};

const refuse: VideoHandler['refuse'] = (problem) => {
  const { status, message } = fillRow(rows, problem);
  return { status, body: { error: message, docUrl: 'https://docs.dev.runwayml.com' } };
};

const frames = listOf(object({ uri: imageValue, position: oneOf('first', 'last') }), 2);
const shape = (withImage: boolean): Shape => ({
  model: textValue(100),
  promptText: textValue(1_000),
  ...(withImage ? { promptImage: either(imageValue, frames) } : {}),
  ratio: oneOf(
    '1280:720',
    '720:1280',
    '1104:832',
    '832:1104',
    '960:960',
    '1584:672',
    '1920:1080',
    '1080:1920',
  ),
  duration: whole(2, 15),
  'seed?': whole(0, 4_294_967_295),
});

function wrongIn({ raw, path }: VideoCall): string | undefined {
  const withImage = path.endsWith('/image_to_video');
  const model = text(raw['model']) ?? '';
  const wrong = wrongWith(raw, shape(withImage));
  if (wrong !== undefined) return wrong;
  if (model.startsWith('gen4_turbo') && (!withImage || ![5, 10].includes(Number(raw['duration']))))
    return 'duration must be 5 or 10';
  if (model.startsWith('gen4.5') && Number(raw['duration']) > 10)
    return 'duration must be at most 10';
  if (
    model.startsWith('gen4.5') &&
    !withImage &&
    !/^(?:1280:720|720:1280)$/.test(String(raw['ratio']))
  )
    return 'ratio must be 1280:720 or 720:1280';
  return undefined;
}

function submission(call: VideoCall): Reply | Submission {
  const { raw } = call;
  const wrong = wrongIn(call);
  if (wrong !== undefined)
    return refuse(problemAt(call, 'bad_request', `Validation of body failed: ${wrong}`));
  return {
    request: {
      named: text(raw['model']) ?? '',
      prompt: text(raw['promptText']) ?? '',
      seconds: Number(raw['duration']),
      ...pixelsOf(String(raw['ratio'])),
    },
    accepted: (id) => ({ status: 200, body: { id } }),
  };
}

/** A task's states as Runway names them, of videos and images. */
export const runwayStates: Readonly<Record<TaskState, string>> = {
  queued: 'PENDING',
  running: 'RUNNING',
  odd: 'DAYDREAMING',
  done: 'SUCCEEDED',
  failed: 'FAILED',
  moderated: 'FAILED',
  cancelled: 'CANCELLED',
};

function report({ id, state, percent, createdMs }: SimTask, url: string): Reply {
  const failure =
    state === 'moderated'
      ? { failure: 'The text was not allowed.', failureCode: 'SAFETY.INPUT.TEXT' }
      : { failure: 'An unexpected error occurred.', failureCode: 'INTERNAL.BAD_OUTPUT.CODE01' };
  return {
    status: 200,
    body: {
      id,
      createdAt: new Date(createdMs).toISOString(),
      status: runwayStates[state],
      ...(state === 'running' && { progress: percent / 100 }),
      ...(state === 'done' && { output: [url] }),
      ...((state === 'failed' || state === 'moderated') && failure),
    },
  };
}

const unknown: Reply = { status: 404, body: { error: 'Task not found' } };

/** Runway: docs.dev.runwayml.com/api, 2026-08. */
export const runwayVideos: VideoHandler = {
  vendor: 'runway',
  at: /^\/runway\/v1\//,
  checkKey: keyIn('authorization', 'Bearer '),
  refuse,
  take(call) {
    const { method, path, headers } = call;
    if (headers['x-runway-version'] !== '2024-11-06')
      return refuse(problemAt(call, 'bad_request', 'X-Runway-Version is missing or unknown'));
    if (method === 'POST' && /^\/runway\/v1\/(?:text|image)_to_video$/.test(path))
      return submission(call);
    const [, id] = /^\/runway\/v1\/tasks\/([^/]+)$/.exec(path) ?? [];
    if (id === undefined) return undefined;
    if (method === 'GET') return { id, report, unknown };
    const task = method === 'DELETE' ? taskOf(id) : undefined;
    if (task === undefined) return unknown;
    withdraw(task);
    return { status: 204, body: '' };
  },
};
