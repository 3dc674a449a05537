import { dayMs, minuteMs } from '../../src/base/calendar.ts';
import { systemClock } from '../../src/base/clock.ts';
import { credit, refund } from '../../src/ledger/ledger.ts';
import { rollUp } from '../../src/usage/rollup.ts';
import type { Browser } from '../support/console.ts';
import { charge } from '../support/console-user.ts';
import { configurationFrom } from '../support/running.ts';
import { type AtEnd, type LiveConsole, startLiveConsole } from './gateway.ts';

/**
 * An installation that some people have used for a month: something stands on every page, the
 * longest names among it.
 */
export interface LivedIn {
  readonly live: LiveConsole;
  readonly user: Browser;
  readonly operator: Browser;
  /** Paths that have an id of this installation in them. */
  readonly paths: Readonly<Record<'key' | 'order' | 'paidOrder' | 'user', string>>;
}

/** The longest that a name may be without being cut by anybody. */
export const longKey = 'nightly-evaluation-of-the-customer-service-bot-in-production';
const longModel = 'lab/experimental-reasoner-large-2026-11-preview-b';
const longGroup = '无限制-企业专线-0.85x';

const yuan = 1_000_000_000n;
const models = [
  'glm-4.7',
  'deepseek-chat',
  'kimi-k2.6',
  'gpt-5-mini',
  'claude-haiku-4-5',
  'qwen-plus',
  'doubao-seed-2-0-pro',
  longModel,
];

const written = (url: string): string => `
groups:
  - { name: default }
  - { name: economy, price_multiplier: 0.85, limits: { rpm: 120, tpm: 400000, concurrency: 16 } }
  - { name: "${longGroup}", price_multiplier: 0.85 }
models:
  - { id: glm-4.7, owned_by: zhipu, kind: chat, context: 204800, max_output: 131072, price: { input: 2.5, cached_input: 0.25, output: 10 } }
  - { id: deepseek-chat, owned_by: deepseek, kind: chat, context: 128000, max_output: 8192, price: { input: 2, cached_input: 0.2, output: 3 } }
  - { id: kimi-k2.6, owned_by: moonshot, kind: chat, context: 262144, price: { input: 6.745, cached_input: 1.136, output: 28.4 } }
  - { id: gpt-5-mini, owned_by: openai, kind: chat, context: 400000, max_output: 128000, price: { input: 1.775, cached_input: 0.1775, output: 14.2 } }
  - { id: claude-haiku-4-5, owned_by: anthropic, kind: chat, context: 200000, max_output: 64000, price: { input: 7.1, cached_input: 0.71, output: 35.5 } }
  - { id: qwen-plus, owned_by: qwen, kind: chat, context: 1000000, max_output: 32768, price: { input: 0.8, cached_input: 0.16, output: 2 } }
  - { id: doubao-seed-2-0-pro, owned_by: doubao, kind: chat, context: 256000, price: { input: 3.2, cached_input: 0.64, output: 16 } }
  - { id: "${longModel}", owned_by: lab, kind: chat, context: 131072, price: { input: 12, output: 48.123456789 } }
  - { id: gpt-image-2, owned_by: openai, kind: image, price: { image: 0.42 } }
  - { id: sora-2, owned_by: openai, kind: video, durations: [5, 10, 15, 20], price: { second: 0.7 } }
channels:
  - { name: ds-main, vendor: deepseek, base_url: ${url}/deepseek, api_key: sk-sim, groups: [default, economy, "${longGroup}"], models: [deepseek-chat], weight: 3 }
  - { name: zhipu-main, vendor: zhipu, base_url: ${url}/zhipu/api/paas/v4, api_key: sk-sim, groups: [default, economy, "${longGroup}"], models: [glm-4.7] }
  - { name: moonshot, vendor: moonshot, base_url: ${url}/moonshot/v1, api_key: sk-sim, models: [kimi-k2.6] }
  - { name: qwen-beijing, vendor: qwen, base_url: ${url}/qwen/compatible-mode/v1, api_key: sk-sim, models: [qwen-plus] }
  - { name: ark, vendor: volcengine, base_url: ${url}/volcengine/api/v3, api_key: sk-sim, models: [doubao-seed-2-0-pro, { id: "${longModel}", upstream: doubao-seed-2-0-pro }] }
  - { name: openai-1, vendor: openai, base_url: ${url}/openai/v1, api_key: sk-sim, models: [gpt-5-mini, gpt-image-2, sora-2] }
  - { name: openai-2, vendor: openai, base_url: ${url}/openai/v1, api_key: sk-sim, groups: [economy], models: [{ id: gpt-5-mini, upstream: sim-401 }], priority: 1 }
`;

export async function startLivedIn(atEnd?: AtEnd): Promise<LivedIn> {
  const live = await startLiveConsole(
    async (url) => ({ configuration: await configurationFrom(written(url)) }),
    atEnd,
  );
  const operator = await live.newUser({ role: 'operator', name: '运营', yuan: 88n });
  const user = await live.newUser({ name: '林薇' });
  const now = systemClock.now();
  const { database } = live.gateway;
  for (const [days, amount] of [
    [27, 30n],
    [6, 50n],
  ] as const)
    await credit(database, {
      ...{
        id: `grant_${days}`,
        account: user.userId,
        from: 'grants',
        amount: amount * yuan,
        code: 'grant',
      },
      ...{ ref: '公司账户', at: now - days * dayMs },
    });
  const [main, long] = [
    await newKey(user, 'ci-key', 'default'),
    await newKey(user, longKey, longGroup, '25.00'),
  ];
  const off = await newKey(user, 'old-laptop', 'economy');
  await user.ask(`keys/${off.id}/disable`, { method: 'POST', body: {} });
  await pastOf(live, user, [main.id, long.id], now);
  for (const [index, name] of ['陈一鸣', 'Wu Jing', 'Priya N.', '王小明'].entries()) {
    const other = await live.newUser({ name, yuan: 30n });
    const { id, secret } = await newKey(other, 'app', 'economy');
    await pastOf(live, other, [id], now - index * 3 * minuteMs, 3 + index);
    await chat(live, secret, index === 0 ? 'gpt-5-mini' : 'glm-4.7');
  }
  await chat(live, main.secret, 'deepseek-chat');
  while (await rollUp(database, now)) continue;
  const orders = await ordersOf(live, user);
  await actsOf(operator, user.userId);
  return {
    live,
    user,
    operator,
    paths: { ...orders, key: `/keys/${long.id}`, user: `/operator/users/${user.userId}` },
  };
}

async function newKey(
  of: Browser,
  name: string,
  group: string,
  limit?: string,
): Promise<{ readonly id: string; readonly secret: string }> {
  const body = { name, group, ...(limit !== undefined && { limit }) };
  const { json } = await of.ask('keys', { method: 'POST', body, headers: keyed(`key ${name}`) });
  return { id: json.key.id, secret: json.secret };
}

const keyed = (form: string) => ({
  'idempotency-key': `a-form-for-${form.replace(/\W+/g, '-').slice(0, 40)}`,
});

/** A month of charges at the list's prices, on most days, and one of each kind today. */
async function pastOf(
  { gateway: { database } }: LiveConsole,
  user: Browser,
  keys: readonly string[],
  now: number,
  every = 1,
): Promise<void> {
  const of = { account: user.userId, group: 'default' };
  for (let day = 26; day >= 1; day -= every)
    for (const [index, model] of models.entries()) {
      if ((day * 7 + index * 3) % 4 === 0) continue;
      const [input, cached, output] = [
        900 + ((day * 613) % 5_000),
        ((day + index) % 3) * 1_500,
        120 + ((day * 97) % 700),
      ];
      const cost = (tokens: number, rate: number): bigint =>
        BigInt(tokens * rate * (models.length - index));
      await charge(database, {
        ...{
          ...of,
          id: `req_${user.userId.slice(-6)}d${day}m${index}`,
          model,
          keyId: keys[day % keys.length] ?? '',
        },
        ...{
          at: now - day * dayMs - index * minuteMs,
          inputTokens: input + cached,
          outputTokens: output,
        },
        lines: [
          ['input', input, 2_000_000_000n, cost(input, 9_000)],
          ...(cached === 0
            ? []
            : [['cached_input', cached, 200_000_000n, cost(cached, 900)] as const]),
          ['output', output, 8_000_000_000n, cost(output, 31_000)],
        ],
      });
    }
  await todayOf(database, user, keys[0] ?? '', now);
}

/** Minutes ago: an answer with reasoning, pictures that are refunded, and a cut answer. */
async function todayOf(
  database: LiveConsole['gateway']['database'],
  user: Browser,
  keyId: string,
  now: number,
): Promise<void> {
  const of = { account: user.userId, group: 'default' };
  const id = (name: string): string => `req_${user.userId.slice(-6)}${name}`;
  const tokens = { inputTokens: 12_418, outputTokens: 1_027 };
  await charge(database, {
    ...of,
    ...tokens,
    keyId,
    id: id('arithmetic'),
    model: 'glm-4.7',
    at: now - 9 * minuteMs,
    lines: arithmetic,
  });
  const pictures = [['image', 2, 357_000_000_000_000n, 714_000_000n]] as const;
  await charge(database, {
    ...of,
    keyId,
    id: id('pictures'),
    model: 'gpt-image-2',
    capability: 'images',
    at: now - 8 * minuteMs,
    lines: pictures,
  });
  const cut = [['output', 3, 3_000_000_000n, 9_000n]] as const;
  await charge(database, {
    ...of,
    keyId,
    id: id('cut'),
    model: 'deepseek-chat',
    status: 'cut',
    at: now - 7 * minuteMs,
    outputTokens: 3,
    lines: cut,
  });
  await refund(database, {
    id: `${id('pictures')}/refund`,
    original: id('pictures'),
    amount: 714_000_000n,
    at: now - 6 * minuteMs,
  });
}

/** Cached input rounded up, reasoning inside the output: what a pocket calculator needs. */
const arithmetic = [
  ['input', 1155, 2_125_000_000n, 2_454_375n],
  ['cached_input', 11_263, 212_500_000n, 2_393_388n],
  ['output', 296, 8_500_000_000n, 2_516_000n],
  ['reasoning', 731, 8_500_000_000n, 6_213_500n],
] as const;

async function chat({ url }: LiveConsole, secret: string, model: string): Promise<void> {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  const body = JSON.stringify({
    model,
    messages: [{ role: 'user', content: 'What does a toll gate do?' }],
  });
  await (await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })).text();
}

/** One that waits, one that was paid, one that was cancelled. */
async function ordersOf(
  { simulator }: LiveConsole,
  user: Browser,
): Promise<Pick<LivedIn['paths'], 'order' | 'paidOrder'>> {
  const order = async (amount: string, wallet: string) =>
    (
      await user.ask('orders', {
        method: 'POST',
        body: { amount, wallet },
        headers: keyed(`${amount} by ${wallet}`),
      })
    ).json.order;
  const paid = await order('50.00', 'alipay');
  simulator.wallets.pay(paid.qr);
  const dropped = await order('500.00', 'wechat_pay');
  await user.ask(`orders/${dropped.id}/close`, { method: 'POST', body: {} });
  const waiting = await order('1.00', 'wechat_pay');
  return { order: `/top-up/${waiting.id}`, paidOrder: `/top-up/${paid.id}` };
}

/** What operators do in a month. */
async function actsOf(operator: Browser, userId: string): Promise<void> {
  const act = (path: string, body: object) =>
    operator.ask(`operator/${path}`, {
      method: 'POST',
      body,
      headers: keyed(path.replaceAll('/', ' ')),
    });
  await act(`users/${userId}/credit`, { amount: '10.00', reason: '补偿 11-20 的中断' });
  await act('prices/publish', {
    changes: [
      { model: 'deepseek-chat', price: { input: '2.2', cached_input: '0.22', output: '3' } },
    ],
    reason: 'dearer vendor',
  });
  await act('channels/qwen-beijing/drain', { accept_unserved: true });
  await act('ledger/check', {});
  for (const wallet of ['wechat_pay', 'alipay']) await act('reconciliation/run', { wallet });
  const title = {
    zh: '今晚 22:00 维护约十分钟',
    en: 'Maintenance tonight at 22:00, for ten minutes',
  };
  await act('announcements', {
    title,
    text: { zh: '进行中的请求不受影响。', en: 'Requests that run are not affected.' },
    level: 'warn',
  });
}
