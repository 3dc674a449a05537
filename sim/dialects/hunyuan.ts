import type { Dialect, Style } from '../dialect.ts';
import { alternate, systemFirst } from '../rules/messages.ts';
import { usualRules } from '../rules/usual.ts';
import {
  callId,
  openAiEnvelope,
  openAiRows,
  openAiStyle,
  plainUsage,
  refuser,
  type Rows,
} from './base.ts';

const keyRefused = {
  status: 401,
  type: 'invalid_request_error',
  code: 'invalid_api_key',
  message: 'Incorrect API key provided',
};

/** cloud.tencent.com/document/product/1729: Tencent Cloud's codes in OpenAI's envelope. */
const rows: Rows = {
  ...openAiRows,
  missing_key: keyRefused,
  wrong_key: keyRefused,
  unknown_model: {
    status: 400,
    type: 'runtime_error',
    code: '400',
    message: 'model {model} not exist',
  },
  bad_request: { status: 400, type: 'invalid_request_error', code: '2003' },
  context: {
    status: 400,
    type: 'invalid_request_error',
    code: '2003',
    message: 'max token 16, input length {tokens}: the input is too long',
  },
  policy: {
    status: 400,
    type: 'invalid_request_error',
    code: 'FailedOperation.SensitiveContent',
    message: 'The content may be sensitive.',
  },
  rate: {
    status: 429,
    type: 'limit_exceeded',
    code: '2001',
    message: '请求限频：concurrency exceeds 5, please try later',
  },
  quota: {
    status: 403,
    type: 'resource_insufficient',
    code: 'FailedOperation.ResourcePackExhausted',
    message: '免费资源包余量已用尽。',
  },
  server: { status: 500, type: 'runtime_error', code: '5000', message: 'internal error' },
  overloaded: {
    status: 503,
    type: 'runtime_error',
    code: '5001',
    message: 'the engine is busy, please retry',
  },
};

const first = { message: 'messages 中 system 角色必须位于列表的最开始' };
const turns = { message: 'messages 中 user 和 assistant 角色需交替出现，以 user 角色结尾' };

const style: Style = {
  ...openAiStyle,
  id: (random) => random.toLowerCase(),
  reasoning: 'reasoning_content',
  usage: plainUsage,
  chunk(draft) {
    Object.assign(draft, {
      system_fingerprint: '',
      note: '以上内容为AI生成，不代表开发者立场，请勿删除或修改本标记',
    });
  },
  whole(draft) {
    Object.assign(draft, {
      system_fingerprint: '',
      note: '以上内容为AI生成，不代表开发者立场，请勿删除或修改本标记',
    });
  },
};

export const hunyuan: Dialect = {
  vendor: 'hunyuan',
  prefix: '/hunyuan/v1',
  key: 'bearer',
  reasons: ({ model, raw }) => /t1|^hy\d/.test(model) || raw['enable_thinking'] === true,
  callId,
  rules: [
    ...usualRules({ sees: (model) => /vision|^hy4$/.test(model) }),
    systemFirst(first),
    alternate(turns),
  ],
  refuse: refuser(rows, openAiEnvelope),
  style,
};
