import { keyIn, pixelsOf, problemAt } from '../task-handler.ts';
import { openai } from '../dialects/openai.ts';
import { type Json, text } from '../json.ts';
import type { Reply } from '../dialect.ts';
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
  type Poll,
  type VideoDownload,
  secondsOf,
  type Submission,
  type VideoHandler,
} from './handler.ts';
import { type SimTask, withdraw, taskOf } from './task.ts';

type Taken = Reply | Submission | Poll | VideoDownload | undefined;

const states = {
  queued: 'queued',
  running: 'in_progress',
  odd: 'dreaming',
  done: 'completed',
  failed: 'failed',
  moderated: 'failed',
  cancelled: 'failed',
} as const;

/** CreateVideoJsonBody of the OpenAPI description, 2026-08-21. */
const openAiShape: Shape = {
  'model?': textValue(100),
  prompt: textValue(32_000),
  'seconds?': oneOf('4', '8', '12'),
  'size?': oneOf('720x1280', '1280x720', '1024x1792', '1792x1024'),
  'input_reference?': object({ 'image_url?': imageValue, 'file_id?': textValue(100) }),
};

function resource(task: SimTask): Json {
  const { state, request, percent, id } = task;
  const ended = state === 'done' || state === 'failed' || state === 'moderated';
  const error =
    state === 'moderated'
      ? {
          code: 'moderation_blocked',
          message: 'Your request was blocked by our moderation system.',
        }
      : state === 'failed' || state === 'cancelled'
        ? { code: 'video_generation_failed', message: 'Video generation failed.' }
        : null;
  return {
    id,
    object: 'video',
    model: request.named,
    status: states[state],
    progress: percent,
    created_at: secondsOf(task),
    completed_at: ended ? secondsOf(task) : null,
    expires_at: null,
    prompt: request.prompt,
    size: `${request.width}x${request.height}`,
    seconds: String(request.seconds),
    remixed_from_video_id: null,
    error,
  };
}

const notFound = (id: string): Reply => ({
  status: 404,
  body: {
    error: {
      message: `Video with id '${id}' not found.`,
      type: 'invalid_request_error',
      param: null,
      code: 'not_found',
    },
  },
});

function openAiSubmission(call: VideoCall): Taken {
  const wrong = wrongWith(call.raw, openAiShape);
  if (wrong !== undefined)
    return openai.refuse(problemAt(call, 'bad_request', `Invalid value: ${wrong}.`));
  const { raw } = call;
  const request = {
    named: text(raw['model']) ?? 'sora-2',
    prompt: text(raw['prompt']) ?? '',
    seconds: Number(raw['seconds'] ?? 4),
    ...pixelsOf(text(raw['size']) ?? '720x1280'),
  };
  return {
    request,
    accepted: (id) => ({
      status: 200,
      body: { ...resource(fresh(id, request)), status: 'queued', progress: 0 },
    }),
  };
}

const fresh = (id: string, request: SimTask['request']): SimTask =>
  taskOf(id) ?? { id, request, state: 'queued', percent: 0, createdMs: 0, poll: 'fine' };

/** The requests about a task below `path`, in both dialects. */
function below(
  call: VideoCall,
  path: string,
  report: (task: SimTask) => Reply,
  unknown: (id: string) => Reply,
): Taken {
  const [, id = '', content] = /^\/([^/]+)(\/content)?$/.exec(call.path.slice(path.length)) ?? [];
  const task = taskOf(decodeURIComponent(id));
  if (call.method === 'GET' && content !== undefined)
    return task?.state === 'done' ? { taskId: task.id } : unknown(id);
  if (call.method === 'DELETE') {
    if (task === undefined) return unknown(id);
    withdraw(task);
    return { status: 200, body: { id: task.id, object: 'video.deleted', deleted: true } };
  }
  return call.method === 'GET' && id !== ''
    ? { id: decodeURIComponent(id), report, unknown: unknown(id) }
    : undefined;
}

const openAiPath = '/openai/v1/videos';

/**
 * developers.openai.com/api/reference/videos, 2026-08. OpenAI retired its models in September 2026;
 * other servers still use the format.
 */
export const openAiVideos: VideoHandler = {
  vendor: 'openai',
  at: /^\/openai\/v1\/videos(?:\/|$)/,
  checkKey: keyIn('authorization', 'Bearer '),
  refuse: openai.refuse,
  take(call) {
    if (call.method === 'POST' && call.path === openAiPath) return openAiSubmission(call);
    return below(call, openAiPath, (task) => ({ status: 200, body: resource(task) }), notFound);
  },
};

/**
 * TaskSubmitReq of new-api's relay/common/relay_info.go, 2026-08: the server ignores unknown
 * members.
 */
const newApiShape: Shape = {
  model: textValue(100),
  prompt: textValue(32_000),
  'seconds?': textValue(4),
  'duration?': either(whole(0, 3_600), textValue(4)),
  'size?': textValue(20),
  'image?': imageValue,
  'images?': listOf(imageValue, 16),
  'mode?': textValue(20),
  'metadata?': (value) =>
    typeof value === 'object' && value !== null ? undefined : 'must be an object',
};

const newApiPath = '/new-api/v1/videos';
const newApiRefuse: VideoHandler['refuse'] = ({ kind, complaint, model }) => {
  const [status, code] =
    kind === 'missing_key' || kind === 'wrong_key'
      ? [401, 'invalid_token']
      : kind === 'quota'
        ? [403, 'insufficient_user_quota']
        : kind === 'rate'
          ? [429, 'rate_limit']
          : kind === 'unknown_model'
            ? [503, 'model_not_found']
            : kind === 'server' || kind === 'overloaded'
              ? [500, 'do_request_failed']
              : [400, 'invalid_request'];
  return {
    status,
    body: { code, message: complaint?.message ?? `refused: ${kind} ${model}`, data: null },
  };
};

/** The same format with that server's id, texts and errors, and the address of the video. */
function newApiVideo(task: SimTask, url: string): Json {
  const { error, ...rest } = resource(task);
  return {
    ...rest,
    task_id: task.id,
    ...(error === null ? {} : { error }),
    ...(task.state === 'done' ? { metadata: { url } } : {}),
  };
}

/** github.com/QuantumNous/new-api, dto/openai_video.go and controller/task_video.go, 2026-08. */
export const newApiVideos: VideoHandler = {
  vendor: 'new-api',
  at: /^\/new-api\/v1\/videos(?:\/|$)/,
  checkKey: keyIn('authorization', 'Bearer '),
  refuse: newApiRefuse,
  take(call) {
    const unknown: Reply = {
      status: 400,
      body: { code: 'task_not_exist', message: 'task_not_exist', data: null },
    };
    if (call.method !== 'POST' || call.path !== newApiPath) {
      const question = below(
        call,
        newApiPath,
        (task) => ({ status: 200, body: resource(task) }),
        () => unknown,
      );
      if (question === undefined || !('report' in question)) return question;
      return {
        ...question,
        report: (task, url) => ({ status: 200, body: newApiVideo(task, url) }),
      };
    }
    const known = Object.fromEntries(
      Object.entries(call.raw).filter(
        ([name]) => newApiShape[name] !== undefined || newApiShape[`${name}?`] !== undefined,
      ),
    );
    const wrong = wrongWith(known, newApiShape);
    if (wrong !== undefined) return newApiRefuse(problemAt(call, 'bad_request', wrong));
    const { raw } = call;
    const size = pixelsOf(text(raw['size']) ?? '1280x720');
    const request = {
      named: text(raw['model']) ?? '',
      prompt: text(raw['prompt']) ?? '',
      seconds: Number(raw['seconds'] ?? raw['duration'] ?? 4),
      ...size,
    };
    return {
      request,
      accepted: (id) => ({
        status: 200,
        body: { ...newApiVideo(fresh(id, request), ''), status: 'queued', progress: 0 },
      }),
    };
  },
};
