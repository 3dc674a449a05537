import { keyIn, problemAt } from '../task-handler.ts';
import type { Reply } from '../dialect.ts';
import { volcengine } from '../dialects/volcengine.ts';
import { object as members, list, text } from '../json.ts';
import {
  either,
  flag,
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
import { type SimTask, taskOf, type TaskState, withdraw } from './task.ts';

const place = '/volcengine/api/v3/contents/generations/tasks';
const address = object({ url: imageValue });
const shape: Shape = {
  model: textValue(100),
  content: listOf(
    either(
      object({ type: oneOf('text'), text: textValue(4_000) }),
      object({
        type: oneOf('image_url'),
        image_url: address,
        'role?': oneOf('first_frame', 'last_frame', 'reference_image'),
      }),
    ),
    12,
  ),
  'resolution?': oneOf('480p', '720p', '1080p', '4k'),
  'ratio?': oneOf('16:9', '9:16', '1:1', '4:3', '3:4', '21:9', 'adaptive'),
  'duration?': whole(2, 30),
  'seed?': whole(-1, 4_294_967_295),
  'generate_audio?': flag,
  'watermark?': flag,
};

const framesPerSecond = 24;

/** The documented lengths and resolutions of each model. */
function wrongFor(
  named: string,
  { duration, resolution }: { readonly duration: number; readonly resolution: string },
): string | undefined {
  const [least, most] = /2-5/.test(named)
    ? [4, 30]
    : /1-0/.test(named)
      ? [2, 12]
      : /1-5/.test(named)
        ? [4, 12]
        : [4, 15];
  if (duration < least || duration > most)
    return `the parameter duration specified in the request is not valid for model ${named}`;
  const high = resolution === '1080p' || resolution === '4k';
  const refused =
    high && (/2-5|fast|mini/.test(named) || (resolution === '4k' && !/2-0/.test(named)));
  return refused
    ? `the parameter resolution specified in the request is not valid for model ${named}`
    : undefined;
}

function submission(call: VideoCall): Reply | Submission {
  const { raw } = call;
  const named = text(raw['model']) ?? '';
  const options = {
    duration: Number(raw['duration'] ?? 5),
    resolution: text(raw['resolution']) ?? '720p',
  };
  const roles = new Set(list(raw['content']).map((part) => members(part)['role']));
  const mixed =
    roles.has('reference_image') && (roles.has('first_frame') || roles.has('last_frame'));
  const wrong =
    wrongWith(raw, shape) ??
    wrongFor(named, options) ??
    (mixed ? 'frames and references exclude each other' : undefined);
  if (wrong !== undefined)
    return volcengine.refuse(problemAt(call, 'bad_request', `${wrong}. Request id: sim`));
  const prompt = list(raw['content'])
    .map((part) => text(members(part)['text']) ?? '')
    .join(' ');
  return {
    request: {
      named,
      prompt,
      seconds: options.duration,
      ...pixels(options.resolution, text(raw['ratio'])?.replace('adaptive', '16:9')),
    },
    accepted: (id) => ({ status: 200, body: { id } }),
  };
}

const statuses: Readonly<Record<TaskState, string>> = {
  queued: 'queued',
  running: 'running',
  odd: 'postprocessing',
  done: 'succeeded',
  failed: 'failed',
  moderated: 'failed',
  cancelled: 'cancelled',
};

function report(task: SimTask, video_url: string): Reply {
  const { id, state, request } = task;
  const frames = request.seconds * framesPerSecond + 1;
  const completion_tokens = Math.floor((request.width * request.height * frames) / 1024);
  const error =
    state === 'moderated'
      ? {
          code: 'OutputVideoSensitiveContentDetected',
          message: 'The request failed because the output video may contain sensitive information.',
        }
      : state === 'failed'
        ? {
            code: 'InternalServiceError',
            message: 'The service encountered an unexpected internal error.',
          }
        : null;
  const done = {
    content: { video_url },
    usage: { completion_tokens, total_tokens: completion_tokens },
    framespersecond: framesPerSecond,
  };
  const at = { created_at: secondsOf(task), updated_at: secondsOf(task) };
  return {
    status: 200,
    body: {
      id,
      model: request.named.split('+')[0],
      status: statuses[state],
      error,
      ...(state === 'done' && done),
      ...at,
    },
  };
}

const unknown: Reply = {
  status: 404,
  body: {
    error: {
      code: 'ResourceNotFound',
      message: 'The specified resource is not found.',
      param: '',
      type: 'NotFound',
    },
  },
};

function remove(call: VideoCall, id: string): Reply {
  const task = taskOf(id);
  if (task === undefined) return unknown;
  if (task.state === 'queued') withdraw(task);
  else if (task.state === 'running')
    return volcengine.refuse(problemAt(call, 'bad_request', 'a running task cannot be deleted'));
  return { status: 200, body: {} };
}

/** Seedance: volcengine.com/docs/82379/1520757, 2026-08. */
export const seedance: VideoHandler = {
  vendor: 'volcengine',
  at: /^\/volcengine\/api\/v3\/contents\/generations\/tasks/,
  checkKey: keyIn('authorization', 'Bearer '),
  refuse: volcengine.refuse,
  take(call) {
    const { method, path } = call;
    if (method === 'POST' && path === place) return submission(call);
    const id = path.startsWith(`${place}/`) ? decodeURIComponent(path.slice(place.length + 1)) : '';
    if (id === '') return undefined;
    if (method === 'DELETE') return remove(call, id);
    return method === 'GET' ? { id, report, unknown } : undefined;
  },
};
