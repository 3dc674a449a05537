import * as schema from '../schema.ts';

const amount = (description: string): schema.Schema => ({
  type: 'number',
  description: `${description} Exact, with at most nine decimals and no exponent.`,
});
const decimals = (description: string) =>
  schema.string(`${description} Exact, as a string with decimals.`);

const limit = schema.answer(
  {
    period: schema.choice('The period of the limit.', ['total', 'month', 'day']),
    limit: amount('The most that the key may spend in the period.'),
    used: amount('The amount spent in the period.'),
    remaining: amount('The part of the limit that is neither used nor held for running tasks.'),
  },
  { resets_at: schema.string('When the next day or month begins; RFC 3339.') },
);

const funds = {
  available: amount(
    'What the key can still spend: the smallest of the balance without what is held for running tasks, and of the remaining limits.',
  ),
};
const accountFunds = {
  balance: amount('The balance of the account. Keys with spending limits do not get it.'),
  held: amount('The part of the balance that is held for running tasks.'),
};

const keyInfo = schema.answer(
  {
    label: schema.string('The key’s name.'),
    currency: schema.string('Currency of all amounts: `CNY`.'),
    limits: schema.array('The spending limits of the key.', limit),
    usage: amount('The amount that the key has spent in total.'),
    usage_daily: amount('The amount of today, in the gateway’s time zone.'),
    usage_weekly: amount('The amount since Monday.'),
    usage_monthly: amount('The amount of this month.'),
    requests: schema.integer('Number of charged requests.', 0),
    ...funds,
    group: schema.string('The group that sets the prices.'),
    rate_limit: schema.object('`requests` per `interval`; -1: no limit.'),
  },
  {
    limit: amount('The total limit, otherwise the monthly one, otherwise the daily one.'),
    limit_remaining: amount(
      'The part of that limit that is neither used nor held for running tasks.',
    ),
    limit_reset: schema.choice('When the limit resets.', ['monthly', 'daily']),
    ...accountFunds,
    expires_at: schema.string('When the key expires; RFC 3339.'),
  },
);

const keyUsage = schema.answer(
  {
    object: { type: 'string', const: 'usage' },
    is_active: schema.boolean('Whether the key can spend anything.'),
    currency: schema.string('Currency of all amounts: `CNY`.'),
    ...funds,
    ...accountFunds,
    remaining: amount('The same as `available`.'),
    limits: schema.array('The spending limits of the key.', limit),
    total: schema.answer({
      requests: schema.integer('Charged requests of the key in total.', 0),
      cost: amount('The amount that the key has spent in total.'),
    }),
    from: schema.string('Start of the period; RFC 3339.'),
    to: schema.string('End of the period; RFC 3339.'),
    requests: schema.integer('Charged requests in the period.', 0),
    cost: amount('The amount spent in the period.'),
    data: schema.array(
      'By model, the most expensive first.',
      schema.answer({
        model: schema.string('The model id.'),
        requests: schema.integer('Charged requests.', 0),
        cost: amount('The amount spent.'),
      }),
    ),
  },
  { expires_at: schema.string('When the key expires; RFC 3339.') },
);

const generation = schema.answer({
  id: schema.string('The id from the query.'),
  request_id: schema.string('The `x-request-id`; for a video, its id.'),
  model: schema.string('The model that answered.'),
  created_at: schema.string('When the request arrived; RFC 3339.'),
  streamed: schema.boolean('Whether the answer was a stream.'),
  cancelled: schema.boolean('Whether the client disconnected before the end.'),
  status: schema.string('`ok`, `length`, `cut`, `left` or `error`.'),
  tokens_prompt: schema.integer('Input tokens.', 0),
  tokens_completion: schema.integer('Output tokens.', 0),
  latency: schema.integer('Time to the first byte in milliseconds.', 0),
  generation_time: schema.integer('Time to the last byte in milliseconds.', 0),
  total_cost: amount('The charge, in yuan.'),
  usage: amount('The same as `total_cost`.'),
  currency: schema.string('`CNY`.'),
});

type Row = readonly [
  path: string,
  id: string,
  summary: string,
  answer: schema.Schema,
  description?: string,
];

const rows: readonly Row[] = [
  [
    '/key',
    'getKey',
    'Limits and spending of this key',
    schema.answer({ data: schema.ref('KeyInfo') }),
    'In OpenRouter’s format, in yuan. Also at `/api/v1/key`, `/api/v1/auth/key` and `/v1/auth/key`.',
  ],
  [
    '/credits',
    'getCredits',
    'Balance and spending of this key',
    schema.answer({
      data: schema.answer({
        total_credits: amount('What the key has spent plus what it can still spend, in yuan.'),
        total_usage: amount('What the key has spent, in yuan.'),
        currency: schema.string('`CNY`.'),
      }),
    }),
    'In OpenRouter’s format, in yuan. Also at `/api/v1/credits`.',
  ],
  [
    '/user/balance',
    'getUserBalance',
    'Balance of this key, in DeepSeek’s format',
    schema.answer({
      is_available: schema.boolean('Whether the key can spend anything.'),
      balance_infos: schema.array(
        'One entry, in yuan.',
        schema.object('`total_balance` and so on.'),
      ),
      is_active: schema.boolean('The same as `is_available`.'),
      balance: amount('Yuan.'),
      unit: schema.string('`CNY`.'),
    }),
    'Also at `/user/balance`.',
  ],
  [
    '/users/me/balance',
    'getMyBalance',
    'Balance of this key, in Moonshot’s format',
    schema.answer({
      code: schema.integer('0.', 0),
      data: schema.answer({
        available_balance: amount('Yuan.'),
        voucher_balance: amount('0.'),
        cash_balance: amount('The same as `available_balance`.'),
      }),
      scode: schema.string('`0x0`.'),
      status: schema.boolean('`true`.'),
    }),
  ],
  [
    '/user/info',
    'getUserInfo',
    'Balance of this key, in SiliconFlow’s format',
    schema.answer({
      code: schema.integer('20000.', 0),
      message: schema.string('`OK`.'),
      status: schema.boolean('`true`.'),
      data: schema.answer({
        id: schema.string('The account’s id.'),
        name: schema.string('The key’s name.'),
        balance: decimals('Granted amount: 0.'),
        chargeBalance: decimals('Yuan.'),
        totalBalance: decimals('The same as `chargeBalance`.'),
        status: schema.string('`normal`.'),
      }),
    }),
  ],
  [
    '/dashboard/billing/subscription',
    'getSubscription',
    'Balance and spending of this key, in dollars',
    schema.answer({
      object: { type: 'string', const: 'billing_subscription' },
      has_payment_method: schema.boolean('`true`.'),
      soft_limit_usd: amount('The same as `hard_limit_usd`.'),
      hard_limit_usd: amount('What the key has spent plus what it can still spend.'),
      system_hard_limit_usd: amount('The same as `hard_limit_usd`.'),
      access_until: schema.integer('0.', 0),
    }),
    'Converted at the configured `usd_rate`. Other gateways subtract `total_usage` of `/v1/dashboard/billing/usage` from it to get the balance of a channel. Also without `/v1`.',
  ],
  [
    '/dashboard/billing/usage',
    'getBilledUsage',
    'Spending of this key since its creation, in US cents',
    schema.answer({
      object: { type: 'string', const: 'list' },
      total_usage: amount('US cents. The gateway ignores dates in the query.'),
    }),
    'Also without `/v1`.',
  ],
  [
    '/dashboard/billing/credit_grants',
    'getCreditGrants',
    'Balance and spending of this key in one answer, in dollars',
    schema.answer({
      object: { type: 'string', const: 'credit_summary' },
      total_granted: amount('Used plus available.'),
      total_used: amount('What the key has spent.'),
      total_available: amount('What the key can spend.'),
    }),
    'Also without `/v1`.',
  ],
  [
    '/usage/token',
    'getTokenUsage',
    'Balance and spending of this key, in new-api’s format, in 1/500,000 of a dollar',
    schema.answer({
      code: schema.boolean('`true`.'),
      message: schema.string('`ok`.'),
      data: schema.answer({
        object: { type: 'string', const: 'token_usage' },
        name: schema.string('The key’s name.'),
        total_granted: schema.integer('Used plus available.', 0),
        total_used: schema.integer('What the key has spent.', 0),
        total_available: schema.integer('What the key can spend.', 0),
        unlimited_quota: schema.boolean('`false`.'),
        model_limits: schema.object('The allowed models, if they are limited.'),
        model_limits_enabled: schema.boolean('Whether the models are limited.'),
        expires_at: schema.integer('When the key expires; Unix time in seconds. 0: never.', 0),
      }),
    }),
    'Also at `/api/usage/token`.',
  ],
];

const operationOfRow = ([path, id, summary, answer, description]: Row): [
  string,
  schema.Operation,
] => [
  `GET ${path}`,
  {
    id,
    tag: 'Balance',
    summary,
    ...(description !== undefined && { description }),
    answer: { 'application/json': answer },
  },
];

export const balanceOperations: schema.Operations = {
  ...Object.fromEntries(rows.map(operationOfRow)),
  'GET /generation': {
    id: 'getGeneration',
    tag: 'Balance',
    also: ['missing_parameter', 'generation_not_found'],
    summary: 'Get the cost of one request',
    description:
      'In OpenRouter’s format, in yuan. The request must have ended. Also at `/api/v1/generation`.',
    query: {
      id: schema.string(
        'The `x-request-id` of the request, or the `id` of its answer or of a video.',
      ),
    },
    answer: { 'application/json': schema.answer({ data: schema.ref('Generation') }) },
    schemas: { Generation: generation },
  },
  'GET /usage': {
    id: 'getUsage',
    tag: 'Balance',
    summary: 'Spending of this key by model',
    schemas: { KeyInfo: keyInfo, KeyUsage: keyUsage },
    query: {
      start_date: schema.string(
        'The first day, such as `2026-11-01`; default: the first day of this month.',
      ),
      end_date: schema.string('The last day; default: today.'),
    },
    answer: { 'application/json': schema.ref('KeyUsage') },
  },
};
