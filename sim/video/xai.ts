import { randomUUID } from 'node:crypto';
import { keyIn, problemAt } from '../task-handler.ts';
import { xai } from '../dialects/xai.ts';
import { text } from '../json.ts';
import {
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
import type { SimTask } from './task.ts';

const place = { url: imageValue };
const shape: Shape = {
  model: textValue(100),
  prompt: textValue(32_000),
  'duration?': whole(1, 15),
  'resolution?': oneOf('480p', '720p', '1080p'),
  'aspect_ratio?': oneOf('16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3'),
  'image?': object(place),
  'reference_images?': listOf(object(place), 7),
};

function submission(call: VideoCall): Submission | ReturnType<VideoHandler['refuse']> {
  const { raw } = call;
  const named = text(raw['model']) ?? '';
  const wrong =
    wrongWith(raw, shape) ??
    (raw['image'] && raw['reference_images']
      ? 'image and reference_images exclude each other'
      : undefined);
  if (wrong !== undefined)
    return xai.refuse(problemAt(call, 'bad_request', `Invalid request: ${wrong}`));
  if (raw['resolution'] === '1080p' && !named.includes('1.5'))
    return xai.refuse(problemAt(call, 'bad_request', '1080p is not supported by this model'));
  const size = pixels(text(raw['resolution']) ?? '480p', text(raw['aspect_ratio']));
  return {
    request: {
      named,
      prompt: text(raw['prompt']) ?? '',
      seconds: Number(raw['duration'] ?? 8),
      ...size,
    },
    accepted: (request_id) => ({ status: 200, body: { request_id } }),
  };
}

/** As recorded: 202 while the task runs. */
function report(task: SimTask, url: string): ReturnType<VideoHandler['refuse']> {
  const { state, percent, request } = task;
  const model = request.named.split('+')[0];
  if (state === 'odd') return { status: 202, body: { status: 'dreaming', progress: percent } };
  if (state === 'queued' || state === 'running')
    return { status: 202, body: { status: 'pending', progress: percent } };
  if (state === 'failed' || state === 'cancelled')
    return {
      status: 200,
      body: {
        status: 'failed',
        error: { code: 'internal_error', message: 'Video generation failed.' },
      },
    };
  const video = { url, duration: request.seconds, respect_moderation: state !== 'moderated' };
  return {
    status: 200,
    body: {
      status: 'done',
      video,
      model,
      usage: { cost_in_usd_ticks: 500_000_000 },
      progress: 100,
    },
  };
}

/** docs.x.ai/docs/guides/video-generations, 2026-08; as recorded. */
export const xaiVideos: VideoHandler = {
  vendor: 'xai',
  at: /^\/xai\/v1\/videos\//,
  checkKey: keyIn('authorization', 'Bearer '),
  refuse: xai.refuse,
  take(call) {
    if (call.method === 'POST' && call.path === '/xai/v1/videos/generations')
      return submission(call);
    const [, id] = /^\/xai\/v1\/videos\/([^/]+)$/.exec(call.path) ?? [];
    if (call.method !== 'GET' || id === undefined) return undefined;
    const unknown = {
      status: 404,
      body: {
        code: 'The requested resource was not found',
        error: `Video request not found: ${randomUUID()}`,
      },
    };
    return { id: decodeURIComponent(id), report, unknown };
  },
};
