import { describe, expect, it } from 'vitest';
import { vendors } from '../../index.ts';
import {
  type AcceptedTask,
  isTaskFault,
  type TaskAdapter,
  type VideoCall,
} from '../../task-adapter.ts';

function adapterOf(vendor: string): TaskAdapter {
  const adapter = vendors.get(vendor)?.adapters.video;
  if (adapter === undefined) throw new Error(`${vendor} makes no videos`);
  return adapter;
}

const wish = {
  prompt: 'a cat',
  seconds: 5,
  negativePrompt: undefined,
  size: undefined,
  aspectRatio: undefined,
  resolution: undefined,
  audio: undefined,
  seed: undefined,
  images: [],
  more: {},
} as const;
const call = (upstreamModel: string): VideoCall => ({
  request: wish,
  taskId: 'video_1',
  publicModel: 'sora-2',
  upstreamModel,
});
const task = (upstreamId: string, upstreamModel = 'm'): AcceptedTask => ({
  upstreamId,
  upstreamModel,
  seconds: 5,
});
const bytes = (body: unknown): Buffer =>
  Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
const url = 'https://cdn.example.com/a.mp4';
const film = { state: 'completed', file: { kind: 'address', url } };

/** Vendor, model, its reply to a submission, and how its task is polled then. */
const accepted: readonly (readonly [string, string, object, string, string])[] = [
  [
    'gemini',
    'veo-3.1-lite-generate-preview',
    { name: 'models/veo-3.1-lite-generate-preview/operations/umz7sqimep69' },
    'GET',
    '/models/veo-3.1-lite-generate-preview/operations/umz7sqimep69',
  ],
  [
    'vertex',
    'veo-3.1-generate-001',
    {
      name: 'projects/p-1/locations/us-central1/publishers/google/models/veo-3.1-generate-001/operations/a1b2',
    },
    'POST',
    '/models/veo-3.1-generate-001:fetchPredictOperation',
  ],
  [
    'kling',
    'kling-v3',
    {
      code: 0,
      message: 'SUCCEED',
      request_id: 'r',
      data: { task_id: '8123', task_status: 'submitted', created_at: 1, updated_at: 1 },
    },
    'GET',
    '/v1/videos/text2video/8123',
  ],
  [
    'minimax',
    'MiniMax-Hailuo-2.3',
    { task_id: '106916112212032', base_resp: { status_code: 0, status_msg: 'success' } },
    'GET',
    '/query/video_generation?task_id=106916112212032',
  ],
  ['minimax', 'MiniMax-H3', { task_id: '1/2' }, 'GET', '/../v2/query/video_generation/1%2F2'],
  [
    'qwen',
    'wan2.6-t2v',
    { output: { task_id: 'u-1', task_status: 'PENDING' }, request_id: 'r' },
    'GET',
    '/../../api/v1/tasks/u-1',
  ],
  ['volcengine', 'ep-1', { id: 'cgt-2026' }, 'GET', '/contents/generations/tasks/cgt-2026'],
  ['xai', 'grok-imagine-video', { request_id: 'u-1' }, 'GET', '/videos/u-1'],
  ['runway', 'gen4.5', { id: 'u-1' }, 'GET', '/v1/tasks/u-1'],
  [
    'zhipu',
    'cogvideox-3',
    { id: '9', model: 'cogvideox-3', request_id: 'video_1', task_status: 'PROCESSING' },
    'GET',
    '/async-result/9',
  ],
  [
    'vidu',
    'viduq3-pro',
    { task_id: '77', state: 'created', credits: 4 },
    'GET',
    '/ent/v2/tasks/77/creations',
  ],
  [
    'jimeng',
    'jimeng_t2v_v30',
    { code: 10000, data: { task_id: '739' }, message: 'Success', status: 10000 },
    'POST',
    '/?Action=CVSync2AsyncGetResult&Version=2022-08-31',
  ],
];

describe('a task that was accepted', () => {
  it.each(accepted)('is asked for again: %s, %s', (vendor, model, reply, method, path) => {
    const adapter = adapterOf(vendor);
    const submitted = adapter.readSubmission(bytes(reply), call(model));
    if (isTaskFault(submitted)) throw new Error(submitted.message);
    const ask = adapter.poll(task(submitted.upstreamId, model));
    expect([ask.method ?? 'POST', ask.path]).toEqual([method, path]);
  });

  it.each(accepted)(
    'may have been accepted when its answer cannot be read: %s, %s',
    (vendor, model) => {
      const adapter = adapterOf(vendor);
      for (const reply of [
        '<html>Welcome</html>',
        '',
        '{}',
        '[]',
        '{"id":',
        '{"task_id":{}}',
        `{"id":"${'x'.repeat(600)}","code":0}`,
      ]) {
        const submitted = adapter.readSubmission(bytes(reply), call(model));
        expect(isTaskFault(submitted) && submitted.kind, reply).toMatch(
          /^(?:protocol|server_error)$/,
        );
      }
    },
  );

  it('is told by its operation’s name on Vertex', () => {
    const name = 'projects/p/locations/l/publishers/google/models/m/operations/1';
    expect(JSON.parse(adapterOf('vertex').poll(task(name)).body.toString())).toEqual({
      operationName: name,
    });
  });

  it('is no path of somebody’s making', () => {
    for (const name of [
      'models/x/operations/1/../../..',
      'https://evil.example/operations/1',
      'models/x/operations/1?key=2',
    ])
      expect(
        isTaskFault(
          adapterOf('gemini').readSubmission(bytes({ name }), call('veo-3.1-generate-preview')),
        ),
      ).toBe(true);
  });
});

const operation = 'models/veo-3.1-lite-generate-preview/operations/umz7sqimep69';
const samples = (uri: string) => ({
  name: operation,
  done: true,
  response: { generateVideoResponse: { generatedSamples: [{ video: { uri } }] } },
});
const policy = (message: string | RegExp) => ({
  state: 'failed',
  fault: { kind: 'content_policy', message: expect.stringMatching(message) },
});
const broken = (message: string | RegExp = '') => ({
  state: 'failed',
  fault: { kind: 'server_error', message: expect.stringMatching(message) },
});
const ark = (status: string, more: object = {}) => ({
  id: 'cgt',
  model: 'ep-1',
  status,
  error: null,
  ...more,
});
const kling = (task_status: string, more: object = {}) => ({
  code: 0,
  message: 'SUCCEED',
  data: { task_id: '1', task_status, ...more },
});
const hailuo = (status: string, more: object = {}) => ({
  task_id: '1',
  status,
  file_id: '',
  base_resp: { status_code: 0, status_msg: 'success' },
  ...more,
});
const wan = (task_status: string, more: object = {}) => ({
  request_id: 'r',
  output: { task_id: 'u', task_status, ...more },
});

const polls: readonly (readonly [string, string, unknown, object])[] = [
  ['gemini', 'm', { name: operation }, { state: 'running' }],
  [
    'gemini',
    'm',
    samples(
      'https://generativelanguage.googleapis.com/v1beta/files/zqw12cp8qc38:download?alt=media',
    ),
    { state: 'completed', file: { kind: 'path', path: '/files/zqw12cp8qc38:download?alt=media' } },
  ],
  ['gemini', 'm', samples('https://elsewhere.example/a.mp4'), { kind: 'protocol' }],
  [
    'gemini',
    'm',
    { name: operation, done: true, error: { code: 13, message: 'internal' } },
    broken('internal'),
  ],
  [
    'gemini',
    'm',
    {
      name: operation,
      done: true,
      error: { code: 3, message: 'The prompt violates our usage guidelines.' },
    },
    policy(/violates/),
  ],
  [
    'gemini',
    'm',
    {
      name: operation,
      done: true,
      response: {
        generateVideoResponse: {
          raiMediaFilteredCount: 1,
          raiMediaFilteredReasons: ['Celebrities.'],
        },
      },
    },
    policy('Celebrities.'),
  ],
  ['gemini', 'm', { name: operation, done: true, response: {} }, { kind: 'protocol' }],
  [
    'gemini',
    'm',
    { error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } },
    { kind: 'overloaded' },
  ],
  [
    'vertex',
    'm',
    {
      name: 'o',
      done: true,
      response: { videos: [{ bytesBase64Encoded: 'AAAA', mimeType: 'video/mp4' }] },
    },
    { state: 'completed', file: { kind: 'bytes', bytes: Buffer.from('AAAA', 'base64') } },
  ],
  [
    'vertex',
    'm',
    { name: 'o', done: true, response: { raiMediaFilteredCount: 1 } },
    policy(/moderation/),
  ],
  [
    'vertex',
    'm',
    { name: 'o', done: true, response: { videos: [{ gcsUri: 'gs://a/b.mp4' }] } },
    { kind: 'protocol' },
  ],
  ['kling', 'm', kling('submitted'), { state: 'queued' }],
  ['kling', 'm', kling('processing'), { state: 'running' }],
  ['kling', 'm', kling('dreaming'), { state: 'unknown' }],
  [
    'kling',
    'm',
    kling('succeed', { task_result: { videos: [{ id: '1', url, duration: '5.1' }] } }),
    film,
  ],
  ['kling', 'm', kling('succeed', { task_result: { videos: [] } }), { kind: 'protocol' }],
  [
    'kling',
    'm',
    kling('failed', { task_status_msg: 'Failure to pass the risk control system' }),
    policy(/risk control/),
  ],
  ['kling', 'm', kling('failed', { task_status_msg: '' }), broken('no reason')],
  [
    'kling',
    'm',
    { code: 1004, message: 'token expired', request_id: 'r' },
    { kind: 'credentials' },
  ],
  ['minimax', 'MiniMax-Hailuo-02', hailuo('Preparing'), { state: 'queued' }],
  ['minimax', 'MiniMax-Hailuo-02', hailuo('Processing'), { state: 'running' }],
  ['minimax', 'MiniMax-Hailuo-02', hailuo('Polishing'), { state: 'unknown' }],
  [
    'minimax',
    'MiniMax-Hailuo-02',
    hailuo('Success', { file_id: '42' }),
    {
      state: 'completed',
      file: { kind: 'request', request: { method: 'GET', path: '/files/retrieve?file_id=42' } },
    },
  ],
  ['minimax', 'MiniMax-Hailuo-02', hailuo('Success'), { kind: 'protocol' }],
  [
    'minimax',
    'MiniMax-Hailuo-02',
    hailuo('Fail', { base_resp: { status_code: 1027, status_msg: 'output new_sensitive' } }),
    policy(/sensitive/),
  ],
  ['minimax', 'MiniMax-Hailuo-02', hailuo('Fail'), broken('no reason')],
  [
    'minimax',
    'MiniMax-Hailuo-02',
    { base_resp: { status_code: 1004, status_msg: 'login fail' } },
    { kind: 'credentials' },
  ],
  [
    'minimax',
    'MiniMax-Hailuo-02',
    { base_resp: { status_code: 1002, status_msg: 'rate limit' } },
    { kind: 'rate_limited' },
  ],
  ['minimax', 'MiniMax-H3', { task: { id: '1', status: 'queued' } }, { state: 'queued' }],
  [
    'minimax',
    'MiniMax-H3',
    { task: { id: '1', status: 'succeeded', content: { url }, usage: { total_seconds: 5 } } },
    film,
  ],
  [
    'minimax',
    'MiniMax-H3',
    {
      task: { id: '1', status: 'failed', error: { code: '1026', message: 'input new_sensitive' } },
    },
    policy(/sensitive/),
  ],
  ['minimax', 'MiniMax-H3', { task: { id: '1', status: 'expired' } }, broken('expired')],
  ['qwen', 'm', wan('PENDING'), { state: 'queued' }],
  ['qwen', 'm', wan('RUNNING'), { state: 'running' }],
  ['qwen', 'm', wan('UNKNOWN'), { state: 'unknown' }],
  ['qwen', 'm', wan('SUCCEEDED', { video_url: url }), film],
  [
    'qwen',
    'm',
    wan('FAILED', {
      code: 'DataInspectionFailed',
      message: 'Output data may contain inappropriate content.',
    }),
    policy(/inappropriate/),
  ],
  ['qwen', 'm', wan('FAILED', { code: 'InternalError', message: 'oops' }), broken('oops')],
  ['qwen', 'm', wan('CANCELED'), broken('CANCELED')],
  ['volcengine', 'm', ark('queued'), { state: 'queued' }],
  ['volcengine', 'm', ark('running'), { state: 'running' }],
  [
    'volcengine',
    'm',
    ark('succeeded', {
      content: { video_url: url },
      usage: { completion_tokens: 108_900, total_tokens: 108_900 },
    }),
    { ...film, quantities: { output: 108_900 } },
  ],
  [
    'volcengine',
    'm',
    ark('failed', {
      error: { code: 'OutputVideoSensitiveContentDetected', message: 'The output was blocked.' },
    }),
    policy(/blocked/),
  ],
  [
    'volcengine',
    'm',
    ark('failed', { error: { code: 'InternalServiceError', message: 'oops' } }),
    broken('oops'),
  ],
  ['volcengine', 'm', ark('expired'), broken('expired')],
  ['xai', 'm', { status: 'pending', progress: 1 }, { state: 'running', percent: 1 }],
  ['xai', 'm', { status: 'dreaming', progress: 40 }, { state: 'unknown', percent: 40 }],
  [
    'xai',
    'm',
    { status: 'done', video: { url, duration: 1, respect_moderation: true }, progress: 100 },
    film,
  ],
  ['xai', 'm', { status: 'done', video: { url, respect_moderation: false } }, policy(/moderation/)],
  [
    'xai',
    'm',
    { status: 'failed', error: { code: 'internal_error', message: 'oops' } },
    broken('oops'),
  ],
  ['xai', 'm', { status: 'expired' }, broken('expired')],
  ['runway', 'm', { id: 'u', status: 'THROTTLED' }, { state: 'queued' }],
  ['runway', 'm', { id: 'u', status: 'RUNNING', progress: 0.5 }, { state: 'running', percent: 50 }],
  ['runway', 'm', { id: 'u', status: 'SUCCEEDED', output: [url] }, film],
  [
    'runway',
    'm',
    { id: 'u', status: 'FAILED', failure: 'Not allowed.', failureCode: 'SAFETY.INPUT.TEXT' },
    policy(/Not allowed/),
  ],
  [
    'runway',
    'm',
    { id: 'u', status: 'FAILED', failure: 'oops', failureCode: 'INTERNAL.BAD_OUTPUT.CODE01' },
    broken('oops'),
  ],
  ['runway', 'm', { id: 'u', status: 'CANCELLED' }, broken('CANCELLED')],
  ['zhipu', 'm', { id: '9', task_status: 'PROCESSING' }, { state: 'running' }],
  [
    'zhipu',
    'm',
    { id: '9', task_status: 'SUCCESS', video_result: [{ url, cover_image_url: 'x' }] },
    film,
  ],
  ['zhipu', 'm', { id: '9', task_status: 'FAIL' }, broken('no reason')],
  [
    'zhipu',
    'm',
    { id: '9', task_status: 'FAIL', error: { code: '1301', message: '敏感内容' } },
    policy(/敏感/),
  ],
  ['vidu', 'm', { id: '77', state: 'queueing', creations: [] }, { state: 'queued' }],
  ['vidu', 'm', { id: '77', state: 'processing' }, { state: 'running' }],
  ['vidu', 'm', { id: '77', state: 'success', creations: [{ id: '1', url }] }, film],
  [
    'vidu',
    'm',
    { id: '77', state: 'failed', err_code: 'CreationPolicyViolation' },
    policy(/CreationPolicyViolation/),
  ],
  [
    'vidu',
    'm',
    { id: '77', state: 'failed', err_code: 'InternalServiceFailure' },
    broken('InternalServiceFailure'),
  ],
  ['jimeng', 'm', { code: 10000, data: { status: 'in_queue' } }, { state: 'queued' }],
  ['jimeng', 'm', { code: 10000, data: { status: 'generating' } }, { state: 'running' }],
  ['jimeng', 'm', { code: 10000, data: { status: 'not_found' } }, { state: 'unknown' }],
  ['jimeng', 'm', { code: 10000, data: { status: 'done', video_url: url } }, film],
  ['jimeng', 'm', { code: 10000, data: { status: 'expired' } }, broken('expired')],
  ['jimeng', 'm', { code: 50511, data: null, message: 'Post Img Risk Not Pass' }, policy(/Risk/)],
  ['jimeng', 'm', { code: 50500, data: null, message: 'Internal Error' }, { kind: 'server_error' }],
];

describe('a poll', () => {
  it.each(polls)('%s, %s: %j', (vendor, model, reply, expected) => {
    expect(adapterOf(vendor).readPoll(bytes(reply), task('1', model))).toMatchObject(expected);
  });

  it.each([...new Set(polls.map(([vendor]) => vendor))])(
    'that is answered with a page or with half an object ends no task of %s',
    (vendor) => {
      for (const model of ['m', 'MiniMax-H3'])
        for (const reply of ['<html>Welcome</html>', '', '{"status":', '[]', '"succeeded"', 'null'])
          expect(adapterOf(vendor).readPoll(bytes(reply), task('1', model))).toMatchObject({
            kind: 'protocol',
          });
    },
  );

  it.each([...new Set(polls.map(([vendor]) => vendor))])(
    'without a word about the task ends no task of %s',
    (vendor) => {
      for (const model of ['m', 'MiniMax-H3']) {
        const polled = adapterOf(vendor).readPoll(bytes({}), task('1', model));
        expect('state' in polled ? polled.state : polled.kind).toMatch(
          /^(?:unknown|server_error)$/,
        );
      }
    },
  );

  it('finds the file of MiniMax’s first version', () => {
    const { readFileLocation: located } = adapterOf('minimax');
    const about = {
      file_id: '42',
      bytes: 0,
      created_at: 1,
      filename: 'output.mp4',
      purpose: 'video_generation',
    };
    expect(
      located?.(
        bytes({ file: { ...about, download_url: url }, base_resp: { status_code: 0 } }),
        task('1'),
      ),
    ).toEqual({
      kind: 'address',
      url,
    });
    expect(
      located?.(bytes({ base_resp: { status_code: 1002, status_msg: 'rate limit' } }), task('1')),
    ).toMatchObject({
      kind: 'rate_limited',
    });
    expect(located?.(bytes({ file: about }), task('1'))).toMatchObject({ kind: 'protocol' });
  });
});

/** Errors as their vendors document them: the operator's, the client's, or the vendor's own. */
const faults: readonly (readonly [string, number, unknown, string])[] = [
  [
    'gemini',
    400,
    {
      error: {
        code: 400,
        message: 'API key not valid.',
        status: 'INVALID_ARGUMENT',
        details: [
          { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' },
        ],
      },
    },
    'credentials',
  ],
  [
    'gemini',
    400,
    {
      error: {
        code: 400,
        message: '`durationSeconds` is out of bound.',
        status: 'INVALID_ARGUMENT',
      },
    },
    'bad_request',
  ],
  [
    'gemini',
    429,
    { error: { code: 429, message: 'quota', status: 'RESOURCE_EXHAUSTED' } },
    'rate_limited',
  ],
  ['kling', 401, { code: 1002, message: 'access key not found' }, 'credentials'],
  ['kling', 429, { code: 1102, message: 'Account balance not enough' }, 'quota'],
  ['kling', 429, { code: 1303, message: 'parallel task over resource pack limit' }, 'rate_limited'],
  ['kling', 400, { code: 1201, message: 'duration is invalid' }, 'bad_request'],
  [
    'kling',
    400,
    { code: 1301, message: 'Failure to pass the risk control system' },
    'content_policy',
  ],
  ['kling', 404, { code: 1203, message: 'model is not exist' }, 'unknown_model'],
  ['kling', 503, { code: 5001, message: 'maintenance' }, 'overloaded'],
  ['kling', 504, { code: 5002, message: 'timeout' }, 'timeout'],
  ['qwen', 401, { code: 'InvalidApiKey', message: 'Invalid API-key provided.' }, 'credentials'],
  [
    'qwen',
    403,
    { code: 'AccessDenied', message: 'current user api does not support synchronous calls.' },
    'credentials',
  ],
  ['qwen', 400, { code: 'Arrearage', message: 'Access denied.' }, 'quota'],
  ['qwen', 400, { code: 'DataInspectionFailed', message: 'inappropriate' }, 'content_policy'],
  ['qwen', 400, { code: 'InvalidParameter', message: 'size' }, 'bad_request'],
  ['qwen', 429, { code: 'Throttling.RateQuota', message: 'slow' }, 'rate_limited'],
  ['qwen', 404, { code: 'ModelNotFound', message: 'Model can not be found.' }, 'unknown_model'],
  [
    'volcengine',
    400,
    {
      error: { code: 'InputTextSensitiveContentDetected', message: 'blocked', type: 'BadRequest' },
    },
    'content_policy',
  ],
  [
    'volcengine',
    403,
    { error: { code: 'AccountOverdueError', message: 'overdue', type: 'Forbidden' } },
    'quota',
  ],
  [
    'volcengine',
    429,
    { error: { code: 'QuotaExceeded', message: 'quota', type: 'TooManyRequests' } },
    'quota',
  ],
  [
    'volcengine',
    404,
    { error: { code: 'ModelNotOpen', message: 'not open', type: 'NotFound' } },
    'unknown_model',
  ],
  [
    'xai',
    400,
    { code: 'invalid-argument', error: 'Incorrect API key provided: xa***' },
    'credentials',
  ],
  ['xai', 403, { code: 'x', error: 'Content violates usage guidelines.' }, 'content_policy'],
  ['runway', 401, { error: 'Incorrect API key provided.' }, 'credentials'],
  ['runway', 400, { error: 'You do not have enough credits to run this task.' }, 'quota'],
  [
    'runway',
    403,
    { error: 'Model variant gen9 is not available to your organization.' },
    'unknown_model',
  ],
  ['runway', 429, { error: 'too many' }, 'rate_limited'],
  ['zhipu', 401, { error: { code: '1000', message: '身份验证失败' } }, 'credentials'],
  ['zhipu', 429, { error: { code: '1113', message: '余额不足' } }, 'quota'],
  ['zhipu', 400, { error: { code: '1301', message: '敏感' } }, 'content_policy'],
  [
    'vidu',
    401,
    { code: 401, reason: 'Unauthorized', message: 'Token is invalid', metadata: {} },
    'credentials',
  ],
  ['vidu', 400, { code: 400, reason: 'CreditInsufficient', message: 'no', metadata: {} }, 'quota'],
  [
    'vidu',
    400,
    { code: 400, reason: 'AuditSubmitIllegal', message: 'no', metadata: {} },
    'content_policy',
  ],
  [
    'jimeng',
    401,
    { ResponseMetadata: { Error: { Code: 'InvalidAccessKey', Message: 'no' } } },
    'credentials',
  ],
  ['jimeng', 400, { code: 50412, message: 'Text Risk Not Pass', data: null }, 'content_policy'],
  ['jimeng', 429, { code: 50430, message: 'limit', data: null }, 'rate_limited'],
  ['jimeng', 400, { code: 50215, message: 'Input invalid', data: null }, 'bad_request'],
  [
    'vidu',
    429,
    { code: 429, reason: 'SystemThrottling', message: 'no', metadata: {} },
    'rate_limited',
  ],
];

describe('a refusal', () => {
  it.each(faults)('%s, %i %j is %s', (vendor, status, body, kind) => {
    expect(adapterOf(vendor).fault(status, {}, JSON.stringify(body)).kind).toBe(kind);
  });

  it('says that a task is gone in its vendor’s own words, not in those of a proxy', () => {
    for (const vendor of [
      'gemini',
      'vertex',
      'kling',
      'minimax',
      'qwen',
      'volcengine',
      'xai',
      'runway',
      'zhipu',
      'vidu',
    ]) {
      const { fault } = adapterOf(vendor);
      expect(fault(404, {}, '{"error":{"message":"not found"}}').gone, vendor).toBe(true);
      expect(fault(404, {}, '<html>404</html>').gone, vendor).toBeUndefined();
      expect(fault(401, {}, '{"error":{"message":"who are you"}}').gone, vendor).toBeUndefined();
    }
  });
});

it('stops work where it can be stopped', () => {
  const asks = ['qwen', 'volcengine', 'runway', 'vidu'].map((vendor) =>
    adapterOf(vendor).cancel?.(task('a b')),
  );
  expect(asks.map((ask) => [ask?.method ?? 'POST', ask?.path])).toEqual([
    ['POST', '/../../api/v1/tasks/a%20b/cancel'],
    ['DELETE', '/contents/generations/tasks/a%20b'],
    ['DELETE', '/v1/tasks/a%20b'],
    ['POST', '/ent/v2/tasks/a%20b/cancel'],
  ]);
});
