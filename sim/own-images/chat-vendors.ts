import { keyIn, pixelsOf } from '../task-handler.ts';
import type { Reply } from '../dialect.ts';
import { minimax } from '../dialects/minimax.ts';
import { qwen } from '../dialects/qwen.ts';
import { zhipu } from '../dialects/zhipu.ts';
import { object, text } from '../json.ts';
import { runwayStates, runwayVideos } from '../video/runway.ts';
import {
  flag,
  listOf,
  object as members,
  oneOf,
  type Shape,
  whole,
  textValue,
  wrongWith,
} from '../video/check.ts';
import type { SimTask, TaskState } from '../video/task.ts';
import {
  type ImageCall,
  type Submission,
  type FinishedImage,
  type ImageHandler,
  refused,
  sidesOf,
} from './handler.ts';
import { wrongReference } from './image-checks.ts';
import { cancelImageTask } from './task.ts';

/**
 * Image endpoints of chat or video vendors, in a format of their own. Their refusals are those of
 * the vendor's other endpoints.
 */

const bearerKey = keyIn('authorization', 'Bearer ');

const minimaxShape: Shape = {
  model: textValue(100),
  prompt: textValue(1_500),
  'n?': whole(1, 9),
  'aspect_ratio?': oneOf('1:1', '16:9', '4:3', '3:2', '2:3', '3:4', '9:16', '21:9'),
  'response_format?': oneOf('url', 'base64'),
  'prompt_optimizer?': flag,
  'seed?': whole(0, 4_294_967_295),
};

/** platform.minimaxi.com/document/image-generation, 2026-08. */
export const minimaxImages: ImageHandler = {
  vendor: 'minimax',
  at: /^\/minimax\/v1\/image_generation$/,
  checkKey: bearerKey,
  refuse: minimax.refuse,
  take(call) {
    const { raw } = call;
    const wrong = call.method === 'POST' ? wrongWith(raw, minimaxShape) : 'no such method';
    if (wrong !== undefined) return refused(minimax, call, `invalid params, ${wrong}`);
    const n = Number(raw['n'] ?? 1);
    return {
      request: {
        named: text(raw['model']) ?? '',
        prompt: text(raw['prompt']) ?? '',
        n,
        ...sidesOf(text(raw['aspect_ratio'])),
      },
      done: (images, { moderated }) => ({
        status: 200,
        body: minimaxBody(moderated ? [] : images, n, raw['response_format'] === 'base64'),
      }),
    };
  },
};

const minimaxBody = (
  images: readonly FinishedImage[],
  count: number,
  bytes: boolean,
): Record<string, unknown> => ({
  id: '03ff3cd0820949eb8a410056b5f21d38',
  data: bytes
    ? { image_base64: images.map(({ base64 }) => base64()) }
    : { image_urls: images.map(({ url }) => url) },
  metadata: {
    success_count: String(images.length),
    failed_count: String(count - images.length),
  },
  base_resp: { status_code: 0, status_msg: 'success' },
});

const cogViewSize = (value: unknown): string | undefined => {
  const { width, height } = pixelsOf(text(value));
  const fine =
    [width, height].every((side) => side >= 512 && side <= 2_048 && side % 16 === 0) &&
    width * height <= 2 ** 21;
  return fine ? undefined : 'must have sides from 512 to 2048, multiples of 16';
};

/** docs.bigmodel.cn/api-reference, generate image, 2026-08. */
export const cogViewImages: ImageHandler = {
  vendor: 'zhipu',
  at: /^\/zhipu\/api\/paas\/v4\/images\/generations$/,
  checkKey: bearerKey,
  refuse: zhipu.refuse,
  take(call) {
    const { raw } = call;
    const shape: Shape = {
      model: textValue(100),
      prompt: textValue(4_000),
      'size?': cogViewSize,
      'quality?': oneOf('hd', 'standard'),
      'user_id?': textValue(128, 6),
      'watermark_enabled?': flag,
    };
    const wrong = call.method === 'POST' ? wrongWith(raw, shape) : 'no such method';
    if (wrong !== undefined) return refused(zhipu, call, wrong);
    return {
      request: {
        named: text(raw['model']) ?? '',
        prompt: text(raw['prompt']) ?? '',
        n: 1,
        ...pixelsOf(text(raw['size'])),
      },
      done: (images, { moderated }) =>
        moderated
          ? {
              status: 400,
              body: {
                error: {
                  code: '1301',
                  message: '系统检测到输入或生成内容可能包含不安全或敏感内容',
                },
              },
            }
          : {
              status: 200,
              body: {
                created: 1_795_000_000,
                data: images.map(({ url }) => ({ url })),
                content_filter: [{ role: 'user', level: 3 }],
              },
            },
    };
  },
};

const dashscopeStates: Readonly<Record<TaskState, string>> = {
  queued: 'PENDING',
  running: 'RUNNING',
  odd: 'DREAMING',
  done: 'SUCCEEDED',
  failed: 'FAILED',
  moderated: 'FAILED',
  cancelled: 'CANCELED',
};

const dashscopeSize = (value: unknown): string | undefined => {
  const { width, height } = pixelsOf(text(value));
  return String(value).includes('*') &&
    [width, height].every((side) => side >= 512 && side <= 1_440)
    ? undefined
    : 'must be width*height, from 512 to 1440';
};

const dashscopeShape = (edits: boolean): Shape => ({
  model: textValue(100),
  input: members({
    prompt: textValue(2_000),
    'negative_prompt?': textValue(500),
    ...(edits ? { images: listOf(wrongReference, 3) } : {}),
  }),
  'parameters?': members({
    'n?': whole(1, 4),
    'size?': dashscopeSize,
    'seed?': whole(0, 2_147_483_647),
    'prompt_extend?': flag,
    'watermark?': flag,
  }),
});

/** help.aliyun.com/zh/model-studio/text-to-image-v2-api-reference, 2026-08. */
export const dashscopeTasks: ImageHandler = {
  vendor: 'qwen',
  at: /^\/qwen\/api\/v1\/(?:services\/aigc\/(?:text2image|image2image)\/image-synthesis|tasks\/p-)/,
  checkKey: bearerKey,
  refuse: qwen.refuse,
  take(call) {
    const { method, path } = call;
    const [, id, cancel] = /\/tasks\/([^/]+)(\/cancel)?$/.exec(path) ?? [];
    if (id !== undefined)
      return cancel === undefined
        ? { id, report: dashscopeReport, unknown: dashscopeUnknown(id) }
        : dashscopeCancel(id);
    return method === 'POST' ? dashscopeSubmission(call) : undefined;
  },
};

function dashscopeSubmission(call: ImageCall): Reply | Submission {
  const { raw, headers, path } = call;
  if (headers['x-dashscope-async'] !== 'enable')
    return {
      status: 403,
      body: {
        code: 'AccessDenied',
        message: 'current user api does not support synchronous calls.',
        request_id: 'r',
      },
    };
  const wrong = wrongWith(raw, dashscopeShape(path.includes('image2image')));
  if (wrong !== undefined)
    return { status: 400, body: { code: 'InvalidParameter', message: wrong, request_id: 'r' } };
  const parameters = object(raw['parameters']);
  return {
    request: {
      named: text(raw['model']) ?? '',
      prompt: text(object(raw['input'])['prompt']) ?? '',
      n: Number(parameters['n'] ?? 1),
      ...pixelsOf(text(parameters['size'])),
    },
    accepted: (id) => ({
      status: 200,
      body: { output: { task_id: id, task_status: 'PENDING' }, request_id: 'r' },
    }),
  };
}

function dashscopeReport({ id, state, request }: SimTask, images: readonly FinishedImage[]): Reply {
  const results =
    state === 'done'
      ? { results: images.map(({ url }) => ({ url, orig_prompt: request.prompt })) }
      : {};
  const why =
    state === 'moderated'
      ? {
          code: 'DataInspectionFailed',
          message: 'Input or output data may contain inappropriate content.',
        }
      : state === 'failed'
        ? { code: 'InternalError', message: 'An internal error has occurred.' }
        : {};
  return {
    status: 200,
    body: {
      request_id: 'r',
      output: { task_id: id, task_status: dashscopeStates[state], ...results, ...why },
    },
  };
}

const dashscopeUnknown = (id: string): Reply => ({
  status: 200,
  body: { request_id: 'r', output: { task_id: id, task_status: 'UNKNOWN' } },
});

function dashscopeCancel(id: string): Reply {
  return cancelImageTask(id)
    ? { status: 200, body: { request_id: 'r' } }
    : {
        status: 400,
        body: {
          code: 'UnsupportedOperation',
          message: 'Failed to cancel the task, please confirm if the task is in PENDING status.',
          request_id: 'r',
        },
      };
}

/** docs.dev.runwayml.com/api, text_to_image, 2026-08. */
const runwayShape: Shape = {
  model: textValue(100),
  promptText: textValue(1_000),
  ratio: oneOf(
    '1024:1024',
    '1920:1080',
    '1080:1920',
    '1440:1080',
    '1080:1440',
    '1360:768',
    '720:720',
    '1280:720',
    '720:1280',
    '960:720',
    '720:960',
    '1680:720',
  ),
  'referenceImages?': listOf(members({ uri: wrongReference, 'tag?': textValue(16, 3) }), 3),
  'seed?': whole(0, 4_294_967_295),
};

export const runwayImages: ImageHandler = {
  vendor: 'runway',
  at: /^\/runway\/v1\/(?:text_to_image$|tasks\/p-)/,
  checkKey: bearerKey,
  refuse: runwayVideos.refuse,
  take(call) {
    const { raw, headers, method, path } = call;
    if (headers['x-runway-version'] !== '2024-11-06')
      return refused(runwayVideos, call, 'X-Runway-Version is missing or unknown');
    const [, id] = /\/tasks\/(.+)$/.exec(path) ?? [];
    if (id !== undefined && method === 'GET')
      return {
        id,
        report: runwayReport,
        unknown: { status: 404, body: { error: 'Task not found' } },
      };
    if (id !== undefined) cancelImageTask(id);
    if (id !== undefined) return { status: 204, body: '' };
    const turbo =
      text(raw['model'])?.startsWith('gen4_image_turbo') === true &&
      raw['referenceImages'] === undefined;
    const wrong =
      wrongWith(raw, runwayShape) ?? (turbo ? 'referenceImages is required' : undefined);
    if (wrong !== undefined)
      return refused(runwayVideos, call, `Validation of body failed: ${wrong}`);
    return {
      request: {
        named: text(raw['model']) ?? '',
        prompt: text(raw['promptText']) ?? '',
        n: 1,
        ...pixelsOf(text(raw['ratio'])),
      },
      accepted: (id) => ({ status: 200, body: { id } }),
    };
  },
};

function runwayReport({ id, state }: SimTask, images: readonly FinishedImage[]): Reply {
  const why =
    state === 'moderated'
      ? { failure: 'The text was not allowed.', failureCode: 'SAFETY.INPUT.TEXT' }
      : state === 'failed'
        ? { failure: 'An unexpected error occurred.', failureCode: 'INTERNAL.BAD_OUTPUT.CODE01' }
        : {};
  const output = state === 'done' ? { output: images.map(({ url }) => url) } : {};
  return { status: 200, body: { id, status: runwayStates[state], ...output, ...why } };
}
