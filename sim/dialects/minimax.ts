import { type Dialect, type Draft, part, type Style } from '../dialect.ts';
import { list } from '../json.ts';
import type { ChatRequest } from '../request.ts';
import { usualRules } from '../rules/usual.ts';
import {
  callId,
  openAiRows,
  openAiStyle,
  plainUsage,
  refuser,
  type Rows,
  type FilledRow,
  fillRow,
} from './base.ts';

/** platform.minimaxi.com/document/error_code: the status is 200, `base_resp` carries the error. */
const rows: Rows = {
  ...openAiRows,
  missing_key: {
    status: 200,
    code: 1004,
    message:
      "login fail: Please carry the API secret key in the 'Authorization' field of the request header",
  },
  wrong_key: { status: 200, code: 1004, message: 'login fail: Please carry the API secret key' },
  unknown_url: { status: 404, code: 404, message: '404 page not found' },
  unknown_model: { status: 200, code: 2013, message: 'invalid params, unknown model {model}' },
  bad_request: { status: 200, code: 2013, message: 'invalid params' },
  context: {
    status: 200,
    code: 2013,
    message: 'invalid params, context window exceeds limit (2013)',
  },
  policy: { status: 200, code: 1026, message: 'input new_sensitive' },
  rate: { status: 200, code: 1002, message: 'rate limit' },
  quota: { status: 200, code: 1008, message: 'insufficient balance' },
  server: { status: 200, code: 1013, message: 'unknown error, 1013' },
  overloaded: { status: 200, code: 1001, message: 'request timeout' },
};

function envelope({ message, code }: FilledRow): Draft {
  const base_resp = { status_code: typeof code === 'number' ? code : 2013, status_msg: message };
  return {
    id: 'sim',
    choices: null,
    created: 0,
    model: '',
    object: '',
    usage: { total_tokens: 0 },
    base_resp,
  };
}

const thinks = ({ model, raw }: ChatRequest): boolean =>
  /^MiniMax-M[123]/.test(model) && JSON.stringify(raw['thinking'] ?? '') !== '{"type":"disabled"}';

const fine = { status_code: 0, status_msg: '' };
const detailed = (thought: string): Draft => ({
  reasoning_content: thought,
  reasoning_details: [
    {
      type: 'reasoning.text',
      id: 'reasoning-text-1',
      format: 'MiniMax-response-v1',
      index: 0,
      text: thought,
    },
  ],
});

/** Reasoning is inline unless `reasoning_split` asks for details. */
const style: Style = {
  ...openAiStyle,
  id: (random) => random.toLowerCase(),
  reasoning: 'inline',
  usageAt: 'finish',
  usageUnasked: true,
  toolCalls: 'whole',
  usage: plainUsage,
  chunk(draft, choice, { kind, piece, answer }, request) {
    if (kind === 'reasoning' && request.raw['reasoning_split'] === true && choice !== undefined)
      choice['delta'] = detailed(piece);
    if (kind === 'finish')
      Object.assign(draft, { base_resp: fine, input_sensitive: false, output_sensitive: false });
    if (!answer.usageReported) delete draft['usage'];
  },
  whole(draft, choices, answer, request) {
    draft['base_resp'] = fine;
    for (const [index, choice] of choices.entries()) {
      const message = part(choice, 'message');
      message['content'] ??= '';
      const chosen = answer.choices[index];
      if (
        request.raw['reasoning_split'] !== true ||
        chosen === undefined ||
        list(chosen.reasoning).length === 0
      )
        continue;
      Object.assign(
        message,
        { content: chosen.text.join('') },
        detailed(chosen.reasoning.join('')),
      );
    }
  },
};

export const minimax: Dialect = {
  vendor: 'minimax',
  prefix: '/minimax/v1',
  responses: 'create',
  key: 'bearer',
  reasons: thinks,
  callId,
  rules: [
    ...usualRules({
      sees: (model) => /M3/.test(model),
      temperature: { min: 0, max: 1, openMin: true },
    }),
    ({ n }) => (n === 1 ? undefined : { message: 'invalid params, n must be 1' }),
  ],
  refuse: refuser(rows, envelope),
  refuseInStream: (problem) => `data: ${JSON.stringify(envelope(fillRow(rows, problem)))}\n\n`,
  style,
};
