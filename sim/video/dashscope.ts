import { randomUUID } from 'node:crypto';
import { keyIn, pixelsOf, problemAt } from '../task-handler.ts';
import type { Reply } from '../dialect.ts';
import { type Rows, fillRow } from '../dialects/base.ts';
import { object as members, text } from '../json.ts';
import {
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
import { type VideoCall, pixels, type Submission, type VideoHandler } from './handler.ts';
import { type SimTask, taskOf, type TaskState, withdraw } from './task.ts';

/** help.aliyun.com/zh/model-studio/error-code, 2026-08. */
const rows: Rows = {
  missing_key: { status: 401, code: 'InvalidApiKey', message: 'No API-key provided.' },
  wrong_key: { status: 401, code: 'InvalidApiKey', message: 'Invalid API-key provided.' },
  unknown_url: { status: 404, code: 'InvalidURL', message: 'url error, please check url!' },
  unknown_model: { status: 404, code: 'ModelNotFound', message: 'Model can not be found.' },
  bad_request: {
    status: 400,
    code: 'InvalidParameter',
    message: 'Required parameter(s) missing or invalid.',
  },
  context: {
    status: 400,
    code: 'InvalidParameter',
    message: 'Range of input length should be [1, 1500]',
  },
  policy: {
    status: 400,
    code: 'DataInspectionFailed',
    message: 'Input data may contain inappropriate content.',
  },
  rate: {
    status: 429,
    code: 'Throttling.RateQuota',
    message: 'Requests rate limit exceeded, please try again later.',
  },
  quota: {
    status: 400,
    code: 'Arrearage',
    message: 'Access denied, please make sure your account is in good standing.',
  },
  server: {
    status: 500,
    code: 'InternalError',
    message: 'An internal error has occured, please try again later.',
  },
  overloaded: {
    status: 503,
    code: 'ModelServingError',
    message: 'Too many requests. Your requests are being throttled.',
  },
};

const refuse: VideoHandler['refuse'] = (problem) => {
  const { status, code, message } = fillRow(rows, problem);
  return { status, body: { code, message, request_id: randomUUID() } };
};

const submitPath = '/qwen/api/v1/services/aigc/video-generation/video-synthesis';
const lengths = whole(2, 15);
const ratio = oneOf('16:9', '9:16', '1:1', '4:3', '3:4');
const resolution = oneOf('480P', '720P', '1080P');
const sizes = oneOf(
  '1280*720',
  '720*1280',
  '960*960',
  '1088*832',
  '832*1088',
  '1920*1080',
  '1080*1920',
  '1440*1440',
  '1632*1248',
  '1248*1632',
);
const words1500 = { 'prompt?': textValue(1_500, 0), 'negative_prompt?': textValue(500, 0) };
const shared: Shape = {
  'duration?': lengths,
  'seed?': whole(0, 2_147_483_647),
  'prompt_extend?': flag,
  'watermark?': flag,
};
const parts = object({
  type: oneOf('first_frame', 'last_frame', 'reference_image'),
  url: imageValue,
});

/** Each generation has its own members, and refuses those of the others. */
function shapes(model: string): { readonly input: Shape; readonly parameters: Shape } {
  if (/^(?:wan2\.7|happyhorse)/.test(model)) {
    const media: Shape = /-t2v/.test(model) ? {} : { media: listOf(parts, 5) };
    return {
      input: { 'prompt?': textValue(5_000, 0), 'negative_prompt?': textValue(500, 0), ...media },
      parameters: { ...shared, 'resolution?': resolution, 'ratio?': ratio },
    };
  }
  if (/-i2v/.test(model))
    return {
      input: { ...words1500, img_url: imageValue },
      parameters: { ...shared, 'resolution?': resolution, 'audio?': flag },
    };
  return {
    input: { ...words1500, prompt: textValue(1_500) },
    parameters: { ...shared, 'size?': sizes },
  };
}

function submission(call: VideoCall): Reply | Submission {
  const { raw, headers } = call;
  if (headers['x-dashscope-async'] !== 'enable')
    return {
      status: 403,
      body: {
        code: 'AccessDenied',
        message: 'current user api does not support synchronous calls.',
        request_id: randomUUID(),
      },
    };
  const named = text(raw['model']) ?? '';
  const { input, parameters } = shapes(named);
  const wrong =
    wrongWith(raw, {
      model: textValue(100),
      input: object(input),
      'parameters?': object(parameters),
    }) ??
    (named.startsWith('wan2.6')
      ? oneOf(5, 10, 15)(members(raw['parameters'])['duration'] ?? 5)
      : undefined);
  if (wrong !== undefined) return refuse(problemAt(call, 'bad_request', wrong));
  const sent = members(raw['parameters']);
  const size =
    sent['size'] === undefined
      ? pixels(text(sent['resolution']) ?? '1080P', text(sent['ratio']))
      : pixelsOf(String(sent['size']));
  return {
    request: {
      named,
      prompt: text(members(raw['input'])['prompt']) ?? '',
      seconds: Number(sent['duration'] ?? 5),
      ...size,
    },
    accepted: (task_id) => ({
      status: 200,
      body: { output: { task_id, task_status: 'PENDING' }, request_id: randomUUID() },
    }),
  };
}

const statuses: Readonly<Record<TaskState, string>> = {
  queued: 'PENDING',
  running: 'RUNNING',
  odd: 'UNKNOWN',
  done: 'SUCCEEDED',
  failed: 'FAILED',
  moderated: 'FAILED',
  cancelled: 'CANCELED',
};

function report({ id, state, request, createdMs }: SimTask, video_url: string): Reply {
  const error =
    state === 'moderated'
      ? { code: 'DataInspectionFailed', message: 'Output data may contain inappropriate content.' }
      : state === 'failed'
        ? {
            code: 'InternalError',
            message: 'An internal error has occured, please try again later.',
          }
        : {};
  const submit_time = new Date(createdMs).toISOString().replace('T', ' ').slice(0, 23);
  const done =
    state === 'done' ? { end_time: submit_time, orig_prompt: request.prompt, video_url } : {};
  const usage = {
    duration: request.seconds,
    video_count: 1,
    SR: Math.min(request.width, request.height),
  };
  return {
    status: 200,
    body: {
      request_id: randomUUID(),
      output: { task_id: id, task_status: statuses[state], submit_time, ...done, ...error },
      ...(state === 'done' && { usage }),
    },
  };
}

/** As DashScope does: an unknown task is no error, but has the state unknown. */
const unknownTask = (task_id: string): Reply => ({
  status: 200,
  body: { request_id: randomUUID(), output: { task_id, task_status: 'UNKNOWN' } },
});

function cancel(call: VideoCall, id: string): Reply {
  const task = taskOf(id);
  if (task === undefined || task.state !== 'queued' || !withdraw(task))
    return refuse(
      problemAt(
        call,
        'bad_request',
        'Failed to cancel the task, please confirm if the task is in PENDING status.',
      ),
    );
  return { status: 200, body: { request_id: randomUUID() } };
}

/** Wan: help.aliyun.com/zh/model-studio, 2026-08; besides the API in OpenAI's format. */
export const dashscopeVideos: VideoHandler = {
  vendor: 'qwen',
  at: /^\/qwen\/api\/v1\/(?:services\/aigc\/video-generation\/|tasks\/t-)/,
  checkKey: keyIn('authorization', 'Bearer '),
  refuse,
  take(call) {
    const { method, path } = call;
    if (method === 'POST' && path === submitPath) return submission(call);
    const [, id, more] = /^\/qwen\/api\/v1\/tasks\/([^/]+)(\/cancel)?$/.exec(path) ?? [];
    if (id === undefined) return undefined;
    if (method === 'POST' && more !== undefined) return cancel(call, id);
    return method === 'GET' && more === undefined
      ? { id, report, unknown: unknownTask(id) }
      : undefined;
  },
};
