import { createHmac, randomUUID } from 'node:crypto';
import { isWrongKey } from '../api-key.ts';
import { systemClock } from '../../src/base/clock.ts';
import { problemAt } from '../task-handler.ts';
import type { Reply } from '../dialect.ts';
import { type Rows, fillRow } from '../dialects/base.ts';
import { number, objectIn, text } from '../json.ts';
import { bareImage, oneOf, type Shape, textValue, wrongWith } from './check.ts';
import { type VideoCall, pixels, type Submission, type VideoHandler } from './handler.ts';
import type { SimTask, TaskState } from './task.ts';

/** The secret of every access key. */
export const klingSecret = 'sim-kling-secret';

/** app.klingai.com/global/dev/document-api/apiReference/commonInfo, 2026-08. */
const rows: Rows = {
  missing_key: { status: 401, code: 1001, message: 'Authorization is empty' },
  wrong_key: { status: 401, code: 1002, message: 'access key not found' },
  unknown_url: { status: 404, code: 1202, message: 'The requested method is invalid' },
  unknown_model: { status: 404, code: 1203, message: 'model {model} is not exist' },
  bad_request: { status: 400, code: 1201, message: 'Invalid request parameters' },
  context: { status: 400, code: 1201, message: 'prompt length exceeds the limit' },
  policy: { status: 400, code: 1301, message: 'Failure to pass the risk control system' },
  rate: { status: 429, code: 1302, message: 'API request is too fast' },
  quota: { status: 429, code: 1102, message: 'Account balance not enough' },
  server: { status: 500, code: 5000, message: 'Server internal error' },
  overloaded: { status: 503, code: 5001, message: 'Server temporarily unavailable' },
};

const refuse: VideoHandler['refuse'] = (problem) => {
  const { status, code, message } = fillRow(rows, problem);
  return { status, body: { code, message, request_id: randomUUID() } };
};

/** A signed JWT that is valid now, or a key of the newer kind. */
function checkKey({ headers }: VideoCall): 'missing_key' | 'wrong_key' | undefined {
  const [, token] = /^Bearer (\S+)$/.exec(headers.authorization ?? '') ?? [];
  if (token === undefined) return 'missing_key';
  if (token.startsWith('sk')) return isWrongKey(token) ? 'wrong_key' : undefined;
  const [head = '', statement = '', signature] = token.split('.');
  const facts = objectIn(Buffer.from(statement, 'base64url')) ?? {};
  const { alg, typ } = objectIn(Buffer.from(head, 'base64url')) ?? {};
  const signed =
    createHmac('sha256', klingSecret).update(`${head}.${statement}`).digest('base64url') ===
    signature;
  const now = systemClock.now() / 1_000;
  const valid =
    (number(facts['nbf']) ?? Number.POSITIVE_INFINITY) <= now && now < (number(facts['exp']) ?? 0);
  const known = !isWrongKey(text(facts['iss']) ?? 'wrong');
  return alg === 'HS256' && typ === 'JWT' && signed && valid && known ? undefined : 'wrong_key';
}

const shared: Shape = {
  model_name: textValue(100),
  'negative_prompt?': textValue(2_500, 0),
  'mode?': oneOf('std', 'pro'),
  'sound?': oneOf('on', 'off'),
  'duration?': oneOf('3', '4', '5', '6', '7', '8', '9', '10', '11', '12', '13', '14', '15'),
  'external_task_id?': textValue(100),
};
const ofText: Shape = {
  ...shared,
  prompt: textValue(2_500),
  'aspect_ratio?': oneOf('16:9', '9:16', '1:1'),
};
const ofImage: Shape = {
  ...shared,
  'prompt?': textValue(2_500, 0),
  image: bareImage,
  'image_tail?': bareImage,
};

function wrongIn({ raw }: VideoCall, action: string): string | undefined {
  const model = text(raw['model_name']) ?? '';
  const wrong = wrongWith(raw, action === 'text2video' ? ofText : ofImage);
  if (wrong !== undefined) return wrong;
  if (!model.startsWith('kling-v3') && !['5', '10', undefined].includes(text(raw['duration'])))
    return 'duration value is invalid';
  if (raw['sound'] === 'on' && !/^kling-v(?:3|2-6)/.test(model))
    return `sound is not supported by ${model}`;
  return raw['sound'] === 'on' && model.startsWith('kling-v2-6') && raw['mode'] !== 'pro'
    ? 'sound needs mode pro'
    : undefined;
}

function submission(call: VideoCall, action: string): Reply | Submission {
  const { raw } = call;
  const wrong = wrongIn(call, action);
  if (wrong !== undefined) return refuse(problemAt(call, 'bad_request', wrong));
  const size = pixels(raw['mode'] === 'pro' ? '1080p' : '720p', text(raw['aspect_ratio']));
  return {
    request: {
      named: text(raw['model_name']) ?? '',
      prompt: text(raw['prompt']) ?? '',
      seconds: Number(raw['duration'] ?? 5),
      ...size,
    },
    accepted: (task_id) =>
      answer({
        task_id,
        task_info: { external_task_id: raw['external_task_id'] },
        task_status: 'submitted',
      }),
  };
}

const answer = (data: object): Reply => ({
  status: 200,
  body: {
    code: 0,
    message: 'SUCCEED',
    request_id: randomUUID(),
    data: { ...data, created_at: systemClock.now(), updated_at: systemClock.now() },
  },
});

const statuses: Readonly<Record<TaskState, string>> = {
  queued: 'submitted',
  running: 'processing',
  odd: 'reviewing',
  done: 'succeed',
  failed: 'failed',
  moderated: 'failed',
  cancelled: 'failed',
};
const reasons: Readonly<Partial<Record<TaskState, string>>> = {
  failed: 'Internal generation error',
  moderated: 'Failure to pass the risk control system',
  cancelled: 'Cancelled',
};

function report({ id, state, request }: SimTask, url: string): Reply {
  const videos = [{ id: randomUUID(), url, duration: `${request.seconds}.1` }];
  return answer({
    task_id: id,
    task_status: statuses[state],
    task_status_msg: reasons[state] ?? '',
    ...(state === 'done' && { task_result: { videos }, final_unit_deduction: '1' }),
  });
}

/**
 * Kling: app.klingai.com/global/dev/document-api, 2026-08. A task is polled at the path of its
 * submission.
 */
export const klingVideos: VideoHandler = {
  vendor: 'kling',
  at: /^\/kling\/v1\/videos\//,
  checkKey,
  refuse,
  take(call) {
    const [, action = '', id] =
      /^\/kling\/v1\/videos\/(text2video|image2video)(?:\/([^/]+))?$/.exec(call.path) ?? [];
    if (call.method === 'POST' && action !== '' && id === undefined)
      return submission(call, action);
    if (call.method !== 'GET' || id === undefined) return undefined;
    return {
      id: decodeURIComponent(id),
      report,
      unknown: refuse(problemAt(call, 'unknown_model', 'Task not found')),
    };
  },
};
