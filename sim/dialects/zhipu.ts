import { type Dialect, part, type Rule, type Style } from '../dialect.ts';
import { object } from '../json.ts';
import type { ChatRequest } from '../request.ts';
import { usualRules } from '../rules/usual.ts';
import { callId, openAiRows, openAiStyle, plainUsage, refuser, type Rows } from './base.ts';

/** docs.bigmodel.cn/cn/faq/api-code: codes are numbers in strings. */
const rows: Rows = {
  ...openAiRows,
  missing_key: {
    status: 401,
    code: '1001',
    message: 'Header中未收到Authorization参数，无法进行身份验证。',
  },
  wrong_key: { status: 401, code: '1000', message: '身份验证失败。' },
  unknown_url: { status: 404, code: '404', message: 'NOT_FOUND' },
  unknown_model: { status: 400, code: '1211', message: '模型不存在，请检查模型代码。' },
  bad_request: { status: 400, code: '1210', message: 'API 调用参数有误，请检查文档。' },
  context: { status: 400, code: '1261', message: 'Prompt 超长' },
  policy: {
    status: 400,
    code: '1301',
    message:
      '系统检测到输入或生成内容可能包含不安全或敏感内容，请您避免输入易产生敏感内容的提示语，感谢您的配合。',
  },
  rate: {
    status: 429,
    code: '1302',
    message: '您当前使用该API的并发数过高，请降低并发，或联系客服增加限额。',
  },
  quota: { status: 429, code: '1113', message: '余额不足或无可用资源包,请充值。' },
  server: { status: 500, code: '500', message: '内部错误' },
  overloaded: { status: 429, code: '1312', message: '该模型当前访问量过大，请您稍后再试' },
};

/** From 4.5 on the models think by default. */
function thinks({ model, raw }: ChatRequest): boolean {
  const mode = object(raw['thinking'])['type'];
  return mode === undefined ? /^glm-(?:4\.[5-9]|[5-9])/.test(model) : mode === 'enabled';
}

const userSpeaks: Rule = ({ messages }) =>
  messages.some(({ role }) => role !== 'system')
    ? undefined
    : { code: '1214', message: 'messages 参数非法。请检查文档。' };

const wrong =
  (rule: Rule): Rule =>
  (request) => {
    const complaint = rule(request);
    return complaint === undefined
      ? undefined
      : {
          ...complaint,
          code: '1210',
          message: `API 调用参数有误，请检查文档。${complaint.message}`,
        };
  };

const sees = (model: string): boolean =>
  /^glm-[\d.]+v|flash$/.test(model) && model !== 'glm-4.7-flash';

/**
 * Recorded: the role in every delta, no `finish_reason` before the end, usage on the finish chunk,
 * whole tool calls.
 */
const style: Style = {
  ...openAiStyle,
  id: (random) => `20261121100000${random.toLowerCase().slice(0, 16)}`,
  reasoning: 'reasoning_content',
  usageAt: 'finish',
  usageUnasked: true,
  toolCalls: 'whole',
  finishNull: false,
  usage: plainUsage,
  chunk(_, choice, { kind }) {
    const delta = part(choice, 'delta');
    if (kind === 'finish') delta['content'] = '';
    if (kind !== 'call') delta['role'] = 'assistant';
    if (kind === 'role') delta['content'] ??= '';
  },
  whole(draft, choices) {
    draft['request_id'] = draft['id'];
    for (const choice of choices) part(choice, 'message')['content'] ??= '';
  },
};

export const zhipu: Dialect = {
  vendor: 'zhipu',
  prefix: '/zhipu/api/paas/v4',
  key: 'bearer',
  reasons: thinks,
  callId,
  rules: [...usualRules({ sees, temperature: { min: 0, max: 1 } }).map(wrong), userSpeaks],
  refuse: refuser(rows, ({ code, message }) => ({ error: { code, message } })),
  style,
};
