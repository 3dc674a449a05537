import { createHash, createHmac, randomUUID } from 'node:crypto';
import { isWrongKey } from '../api-key.ts';
import { systemClock } from '../../src/base/clock.ts';
import { problemAt } from '../task-handler.ts';
import type { Reply } from '../dialect.ts';
import { type Rows, fillRow } from '../dialects/base.ts';
import { text } from '../json.ts';
import {
  base64,
  listOf,
  oneOf,
  imageValue,
  type Shape,
  whole,
  textValue,
  wrongWith,
} from './check.ts';
import { type VideoCall, pixels, type Submission, type VideoHandler } from './handler.ts';
import type { SimTask } from './task.ts';

/** The secret of every access key. */
export const jimengSecret = 'sim-jimeng-secret';

/** volcengine.com/docs/85621, 2026-08. */
const rows: Rows = {
  missing_key: {
    status: 401,
    code: 'MissingAuthenticationToken',
    message: 'Authorization is missing',
  },
  wrong_key: {
    status: 401,
    code: 'SignatureDoesNotMatch',
    message: 'The request signature we calculated does not match',
  },
  unknown_url: { status: 404, code: 'InvalidActionOrVersion', message: 'Could not find operation' },
  unknown_model: {
    status: 400,
    code: 50215,
    message: 'Input invalid for this service: req_key {model}',
  },
  bad_request: { status: 400, code: 50215, message: 'Input invalid for this service.' },
  context: { status: 400, code: 50215, message: 'prompt is too long' },
  policy: { status: 400, code: 50412, message: 'Text Risk Not Pass' },
  rate: { status: 429, code: 50429, message: 'Request Has Reached API Limit, Please Try Later' },
  quota: {
    status: 429,
    code: 50430,
    message: 'Request Has Reached API Concurrent Limit, Please Try Later',
  },
  server: { status: 500, code: 50500, message: 'Internal Error' },
  overloaded: { status: 503, code: 50501, message: 'Internal RPC Error' },
};

const refuse: VideoHandler['refuse'] = (problem) => {
  const { status, code, message } = fillRow(rows, problem);
  if (typeof code === 'string')
    return {
      status,
      body: {
        ResponseMetadata: { RequestId: randomUUID(), Error: { Code: code, Message: message } },
      },
    };
  return { status, body: { code, data: null, message, request_id: randomUUID(), status: code } };
};

const hash = (value: string | Buffer): string => createHash('sha256').update(value).digest('hex');
const mac = (key: string | Buffer, value: string): Buffer =>
  createHmac('sha256', key).update(value).digest();
const proof =
  /^HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/(cn-north-1)\/(cv)\/request, SignedHeaders=([\w;-]+), Signature=([\da-f]{64})$/;
const lateMs = 900_000;

/** Checks everything that the signature covers: time, region, headers and body. */
function checkKey({
  headers,
  method,
  path,
  query,
  bytes,
}: VideoCall): 'missing_key' | 'wrong_key' | undefined {
  const [, key = '', day = '', region = '', service = '', names = '', signature] =
    proof.exec(headers.authorization ?? '') ?? [];
  if (signature === undefined)
    return headers.authorization === undefined ? 'missing_key' : 'wrong_key';
  const date = String(headers['x-date']);
  const sent = Date.parse(
    date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'),
  );
  const needed = ['host', 'x-content-sha256', 'x-date'].every((name) =>
    names.split(';').includes(name),
  );
  if (!needed || !date.startsWith(day) || !(Math.abs(systemClock.now() - sent) < lateMs))
    return 'wrong_key';
  if (headers['x-content-sha256'] !== hash(bytes) || isWrongKey(key)) return 'wrong_key';
  const lines = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  query.sort();
  // The signed path includes the simulator's base path.
  const canonical = [method, path, query.toString(), lines.join(''), names, hash(bytes)].join('\n');
  const signing = mac(mac(mac(mac(jimengSecret, day), region), service), 'request');
  const right = mac(
    signing,
    `HMAC-SHA256\n${date}\n${day}/${region}/${service}/request\n${hash(canonical)}`,
  ).toString('hex');
  return right === signature ? undefined : 'wrong_key';
}

const submission: Shape = {
  req_key: textValue(100),
  'prompt?': textValue(800),
  'image_urls?': listOf(imageValue, 2),
  'binary_data_base64?': listOf(base64, 2),
  'seed?': whole(-1, 4_294_967_295),
  'frames?': oneOf(121, 241),
  'aspect_ratio?': oneOf('16:9', '4:3', '1:1', '3:4', '9:16', '21:9'),
};

const answer = (data: object): Reply => ({
  status: 200,
  body: { code: 10_000, data, message: 'Success', request_id: randomUUID(), status: 10_000 },
});

function submit(call: VideoCall): Reply | Submission {
  const { raw } = call;
  const named = text(raw['req_key']) ?? '';
  const images = raw['binary_data_base64'] ?? raw['image_urls'];
  const wrong =
    wrongWith(raw, submission) ??
    (/_i2v/.test(named) && images === undefined ? 'an image is needed' : undefined) ??
    (/_t2v/.test(named) && images !== undefined ? 'no image is taken' : undefined);
  if (wrong !== undefined) return refuse(problemAt(call, 'bad_request', wrong));
  const size = pixels(/1080|pro/.test(named) ? '1080p' : '720p', text(raw['aspect_ratio']));
  return {
    request: {
      named,
      prompt: text(raw['prompt']) ?? '',
      seconds: raw['frames'] === 241 ? 10 : 5,
      ...size,
    },
    accepted: (task_id) => answer({ task_id }),
  };
}

function report({ state }: SimTask, video_url: string): Reply {
  const states = {
    queued: 'in_queue',
    running: 'generating',
    odd: 'enhancing',
    done: 'done',
    failed: 'expired',
    cancelled: 'expired',
  };
  if (state === 'moderated')
    return {
      status: 200,
      body: { code: 50_511, data: null, message: 'Post Img Risk Not Pass', status: 50_511 },
    };
  return answer({ status: states[state], video_url: state === 'done' ? video_url : '' });
}

/** Jimeng: volcengine.com/docs/85621, 2026-08. One address; the query names the action. */
export const jimengVideos: VideoHandler = {
  vendor: 'jimeng',
  at: /^\/jimeng\/$/,
  checkKey,
  refuse,
  take(call) {
    const { method, query, raw } = call;
    if (method !== 'POST' || query.get('Version') !== '2022-08-31') return undefined;
    if (query.get('Action') === 'CVSync2AsyncSubmitTask') return submit(call);
    if (query.get('Action') !== 'CVSync2AsyncGetResult') return undefined;
    const wrong = wrongWith(raw, { req_key: textValue(100), task_id: textValue(500) });
    if (wrong !== undefined) return refuse(problemAt(call, 'bad_request', wrong));
    return {
      id: text(raw['task_id']) ?? '',
      report,
      unknown: answer({ status: 'not_found', video_url: '' }),
    };
  },
};
