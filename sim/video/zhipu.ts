import { randomUUID } from 'node:crypto';
import { keyIn, pixelsOf, problemAt } from '../task-handler.ts';
import type { Reply } from '../dialect.ts';
import { zhipu } from '../dialects/zhipu.ts';
import { text } from '../json.ts';
import {
  either,
  flag,
  listOf,
  oneOf,
  imageValue,
  type Shape,
  textValue,
  wrongWith,
} from './check.ts';
import { type VideoCall, type Submission, type VideoHandler } from './handler.ts';
import type { SimTask, TaskState } from './task.ts';

const base = '/zhipu/api/paas/v4';
const shape: Shape = {
  model: textValue(100),
  'prompt?': textValue(512, 0),
  'image_url?': either(imageValue, listOf(imageValue, 2, 2)),
  'quality?': oneOf('speed', 'quality'),
  'with_audio?': flag,
  'size?': oneOf(
    '1280x720',
    '720x1280',
    '1024x1024',
    '1920x1080',
    '1080x1920',
    '2048x1080',
    '3840x2160',
  ),
  'fps?': oneOf(30, 60),
  'duration?': oneOf(5, 10),
  'request_id?': textValue(64, 6),
};

function submission(call: VideoCall): Reply | Submission {
  const { raw } = call;
  const wrong =
    wrongWith(raw, shape) ??
    (raw['prompt'] || raw['image_url'] ? undefined : 'prompt 和 image_url 不能同时为空');
  if (wrong !== undefined)
    return zhipu.refuse(problemAt(call, 'bad_request', `API 调用参数有误：${wrong}`));
  const named = text(raw['model']) ?? '';
  const request_id = raw['request_id'] ?? randomUUID();
  return {
    request: {
      named,
      prompt: text(raw['prompt']) ?? '',
      seconds: Number(raw['duration'] ?? 5),
      ...pixelsOf(text(raw['size']) ?? '1920x1080'),
    },
    accepted: (id) => ({
      status: 200,
      body: { id, model: named.split('+')[0], request_id, task_status: 'PROCESSING' },
    }),
  };
}

const statuses: Readonly<Record<TaskState, string>> = {
  queued: 'PROCESSING',
  running: 'PROCESSING',
  odd: 'CONVERTING',
  done: 'SUCCESS',
  failed: 'FAIL',
  moderated: 'FAIL',
  cancelled: 'FAIL',
};

function report({ id, state, request }: SimTask, url: string): Reply {
  return {
    status: 200,
    body: {
      id,
      model: request.named.split('+')[0],
      request_id: randomUUID(),
      task_status: statuses[state],
      ...(state === 'done' && {
        video_result: [{ url, cover_image_url: url.replace(/\.mp4$/, '.png') }],
      }),
      ...(state === 'moderated' && {
        error: { code: '1301', message: '系统检测到输入或生成内容可能包含不安全或敏感内容' },
      }),
    },
  };
}

/** CogVideoX: docs.bigmodel.cn/api-reference, 2026-08. */
export const zhipuVideos: VideoHandler = {
  vendor: 'zhipu',
  at: /^\/zhipu\/api\/paas\/v4\/(?:videos\/generations|async-result\/)/,
  checkKey: keyIn('authorization', 'Bearer '),
  refuse: zhipu.refuse,
  take(call) {
    const { method, path } = call;
    if (method === 'POST' && path === `${base}/videos/generations`) return submission(call);
    const [, id] = /\/async-result\/([^/]+)$/.exec(path) ?? [];
    if (method !== 'GET' || id === undefined) return undefined;
    return {
      id,
      report,
      unknown: { status: 404, body: { error: { code: '1214', message: '任务不存在' } } },
    };
  },
};
