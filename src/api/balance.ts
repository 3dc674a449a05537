import type { Principal } from '../accounts/principal.ts';
import { dayMs, isDay, monthOf } from '../base/calendar.ts';
import { divideUp, type Nano } from '../base/money.ts';
import { refuse } from '../base/refusal.ts';
import { LimitReached } from '../gateway/admit.ts';
import type { GatewayParts } from '../gateway/parts.ts';
import type { Database, Transaction } from '../storage/database.ts';
import { usageRecord } from '../usage/page.ts';
import type { TimeRange } from '../usage/ranges.ts';
import { paidFor } from '../usage/record.ts';
import { type Endpoint, type HttpRequest, queryOf } from './endpoint.ts';
import { chatConvention, messagesConvention } from './entry.ts';
import {
  type KeyFigures,
  keyFigures,
  type LimitFigures,
  paidByModel,
  paidLately,
  untilNow,
} from './key-figures.ts';
import { moneyJson, moneyNumber } from './money-json.ts';

type BalanceParts = Pick<GatewayParts, 'clock' | 'limiter' | 'limits' | 'catalog'>;

/** What a figure is asked for. */
interface FiguresQuery {
  readonly principal: Principal;
  readonly request: HttpRequest;
  /** Wall clock, ms. */
  readonly at: number;
  readonly utcOffsetMinutes: number;
  /** The requests that the key may make in a minute; undefined: any number. */
  readonly rpm: number | undefined;
}

/** Reads what one endpoint answers. Bigints are amounts. */
type FiguresAnswer = (query: FiguresQuery) => Transaction<object>;

/**
 * What a key may spend and has spent, for machines: read from the ledger at each request, so that a
 * charge shows as soon as its answer has ended. A key without money is answered as well. Amounts
 * are yuan, apart from those whose names say dollars (`usdRatePpm`: millionths of a yuan for one).
 */
export function balanceEndpoints(
  parts: BalanceParts,
  database: Database,
  usdRatePpm: bigint,
): readonly Endpoint[] {
  const get = (path: string, read: FiguresAnswer, ...aliases: readonly string[]): Endpoint => ({
    method: 'GET',
    path,
    aliases,
    convention: { ...chatConvention, credential: messagesConvention.credential },
    async handle({ principal, request, response }) {
      const { clock, limits, limiter, catalog } = parts;
      const allowance = { rpm: limits.countsPerMinute, tpm: undefined, concurrency: undefined };
      const entered = await limiter.enter(`figures/${principal.keyId}`, allowance, 0);
      if ('limitOf' in entered) throw new LimitReached(entered, 0);
      try {
        const rpm = principal.allowance?.rpm ?? catalog().groups.get(principal.group)?.limits.rpm;
        const { utcOffsetMinutes } = limits;
        const query = { principal, request, at: clock.now(), utcOffsetMinutes, rpm };
        const body = moneyJson(await database.snapshot(() => read(query)));
        response.header('cache-control', 'no-store');
        response.whole(200, 'application/json', body);
      } finally {
        entered.finish(0);
      }
    },
  });
  const dollars = (read: (figures: Dollars) => object): FiguresAnswer =>
    function* (query) {
      return read(dollarsOf(yield* keyFigures(query.principal, query), usdRatePpm));
    };
  const billing = '/dashboard/billing';
  return [
    get('/key', keyAnswer, '/api/v1/key', '/api/v1/auth/key', '/v1/auth/key'),
    get('/usage', usageAnswer),
    get('/credits', creditsAnswer, '/api/v1/credits'),
    get('/generation', generationAnswer, '/api/v1/generation'),
    get('/user/balance', balanceAnswer, '/user/balance'),
    get('/users/me/balance', cashAnswer),
    get('/user/info', userAnswer),
    get(`${billing}/subscription`, dollars(subscription), `${billing}/subscription`),
    get(`${billing}/usage`, dollars(billedUsage), `${billing}/usage`),
    get(`${billing}/credit_grants`, dollars(creditGrants), `${billing}/credit_grants`),
    get('/usage/token', tokenAnswer(usdRatePpm), '/api/usage/token', '/api/usage/token/'),
  ];
}

const limitNames = { total: null, month: 'monthly', day: 'daily' } as const;

const instantOf = (at: number | undefined): string | null =>
  at === undefined ? null : new Date(at).toISOString();

const limitView = ({ period, limit, used, remaining, resetsAt }: LimitFigures): object => ({
  period,
  limit,
  used,
  remaining,
  resets_at: instantOf(resetsAt),
});

/**
 * GET /v1/key, with OpenRouter's members (openrouter.ai/docs/api-reference/limits, 2026-11), which
 * know one limit: the total, else the month's, else the day's. `limits` has all of them.
 */
function* keyAnswer(query: FiguresQuery): Transaction<object> {
  const { principal, rpm } = query;
  const figures = yield* keyFigures(principal, query);
  const lately = yield* paidLately(principal, query);
  const [first] = figures.limits;
  return {
    data: {
      label: figures.name,
      currency: 'CNY',
      limit: first?.limit ?? null,
      limit_remaining: first?.remaining ?? null,
      limit_reset: first === undefined ? null : limitNames[first.period],
      limits: figures.limits.map(limitView),
      usage: figures.spent,
      usage_daily: lately.day,
      usage_weekly: lately.week,
      usage_monthly: lately.month,
      requests: figures.requests,
      ...fundsView(figures),
      group: principal.group,
      expires_at: instantOf(principal.expiresAt),
      byok_usage: 0,
      byok_usage_daily: 0,
      byok_usage_weekly: 0,
      byok_usage_monthly: 0,
      include_byok_in_limit: false,
      is_free_tier: false,
      is_management_key: false,
      is_provisioning_key: false,
      rate_limit: { requests: rpm ?? -1, interval: '1m', note: '-1: any number.' },
    },
  };
}

/** A key with limits of its own sees what it can spend, another one the balance of its account. */
const fundsView = ({ limits, available, balance, held }: KeyFigures): object =>
  limits.length > 0 ? { available } : { available, balance, held };

/**
 * GET /v1/usage: what the key has paid from `start_date` to `end_date`, by model, beside its whole
 * use and what it can still spend.
 */
function* usageAnswer(query: FiguresQuery): Transaction<object> {
  const { principal, at } = query;
  const span = spanOf(query);
  const figures = yield* keyFigures(principal, query);
  const rows = yield* paidByModel(principal, span);
  const data = rows
    .map(({ of, requests, cost }) => ({ model: of.model, requests, cost }))
    .sort((a, b) => (a.cost === b.cost ? 0 : a.cost > b.cost ? -1 : 1));
  return {
    object: 'usage',
    is_active: figures.available > 0n,
    isValid: true,
    currency: 'CNY',
    unit: 'CNY',
    ...fundsView(figures),
    balance: figures.limits.length > 0 ? figures.available : figures.balance,
    remaining: figures.available,
    limits: figures.limits.map(limitView),
    expires_at: instantOf(principal.expiresAt),
    total: { requests: figures.requests, cost: figures.spent },
    from: instantOf(span.from),
    to: instantOf(Math.min(span.to, at)),
    requests: data.reduce((sum, { requests }) => sum + requests, 0),
    cost: data.reduce((sum, { cost }) => sum + cost, 0n),
    data,
  };
}

const spanDaysMax = 366;

/** Whole days by the operator's calendar; without them, the present month. */
function spanOf({ request: { url }, at, utcOffsetMinutes }: FiguresQuery): TimeRange {
  const query = queryOf(url);
  const startOf = (param: string): number | undefined => {
    const day = query.get(param);
    if (day === null || day === '') return undefined;
    if (!isDay(day)) refuse('invalid_value', { param, why: 'expected a day such as 2026-11-24.' });
    return Date.parse(day) - utcOffsetMinutes * 60_000;
  };
  const from = startOf('start_date') ?? monthOf(at, utcOffsetMinutes).from;
  const last = startOf('end_date');
  const to = last === undefined ? untilNow(at) : last + dayMs;
  if (to < from || to - from > spanDaysMax * dayMs)
    refuse('invalid_value', {
      param: 'start_date',
      why: `expected a day at most ${spanDaysMax} days before 'end_date'.`,
    });
  return { from, to };
}

/** GET /v1/credits: the difference is what can be spent. */
function* creditsAnswer(query: FiguresQuery): Transaction<object> {
  const { available, spent } = yield* keyFigures(query.principal, query);
  return { data: { total_credits: available + spent, total_usage: spent, currency: 'CNY' } };
}

/**
 * An id of an answer: the 32 digits that it shares with its request, in most formats after a word.
 */
const idPattern = /^(?:[a-z]+[-_])?([0-9a-f]{32})$/;

/**
 * GET /v1/generation?id=…: what one charged request of the account cost, by its `x-request-id`, by
 * the id of its answer (openrouter.ai/docs/api-reference/get-a-generation, 2026-11), or by that of
 * a video. It is there once the answer has ended.
 */
function* generationAnswer({ principal, request: { url } }: FiguresQuery): Transaction<object> {
  const id = queryOf(url).get('id') ?? '';
  if (id === '') refuse('missing_parameter', { param: 'id' });
  const digits = idPattern.exec(id)?.[1];
  const record = yield* usageRecord(principal.userId, digits === undefined ? id : `req_${digits}`);
  if (record === undefined) refuse('generation_not_found', { id, param: 'id' });
  const number = (column: string): number => Number(record[column]);
  const [input, output] = [number('input_tokens'), number('output_tokens')];
  const cost = paidFor(record);
  const finishedAt = number('finished_at');
  return {
    data: {
      id,
      request_id: record['id'],
      model: record['model'],
      created_at: instantOf(finishedAt - number('duration_ms')),
      streamed: number('stream') === 1,
      cancelled: record['status'] === 'left',
      status: record['status'],
      tokens_prompt: input,
      tokens_completion: output,
      native_tokens_prompt: input,
      native_tokens_completion: output,
      latency: number('first_byte_ms'),
      generation_time: number('duration_ms'),
      usage: cost,
      total_cost: cost,
      currency: 'CNY',
      is_byok: false,
    },
  };
}

/** DeepSeek's members (api-docs.deepseek.com/api/get-user-balance, 2026-11), and cc-switch's. */
function* balanceAnswer(query: FiguresQuery): Transaction<object> {
  const { available } = yield* keyFigures(query.principal, query);
  const amount = moneyNumber(available);
  return {
    is_available: available > 0n,
    balance_infos: [
      { currency: 'CNY', total_balance: amount, granted_balance: '0', topped_up_balance: amount },
    ],
    is_active: available > 0n,
    balance: available,
    unit: 'CNY',
  };
}

/** Moonshot's members (platform.moonshot.cn/docs/api/balance, 2026-11). */
function* cashAnswer(query: FiguresQuery): Transaction<object> {
  const { available } = yield* keyFigures(query.principal, query);
  const data = { available_balance: available, voucher_balance: 0, cash_balance: available };
  return { code: 0, data, scode: '0x0', status: true };
}

/** SiliconFlow's members (docs.siliconflow.cn/api-reference/userinfo, 2026-11). */
function* userAnswer({ principal, ...query }: FiguresQuery): Transaction<object> {
  const { available, name } = yield* keyFigures(principal, query);
  const amount = moneyNumber(available);
  const data = {
    id: principal.userId,
    name,
    image: '',
    email: '',
    isAdmin: false,
    balance: '0',
    chargeBalance: amount,
    totalBalance: amount,
    status: 'normal',
  };
  return { code: 20_000, message: 'OK', status: true, data };
}

/** Nano-dollars: what is left is rounded down, what is used up. */
interface Dollars {
  readonly available: Nano;
  readonly spent: Nano;
}

const million = 1_000_000n;

const dollarsOf = (
  { available, spent }: Pick<KeyFigures, 'available' | 'spent'>,
  ratePpm: bigint,
) => ({
  available: (available * million) / ratePpm,
  spent: divideUp(spent * million, ratePpm),
});

/**
 * one-api and new-api subtract `total_usage` ÷ 100 of the next answer from this `hard_limit_usd`
 * (github.com/songquanpeng/one-api, controller/channel-billing.go): the dates that they send with
 * one of the two calls are ignored, so that the difference is what can be spent.
 */
const subscription = ({ available, spent }: Dollars): object => ({
  object: 'billing_subscription',
  has_payment_method: true,
  soft_limit_usd: available + spent,
  hard_limit_usd: available + spent,
  system_hard_limit_usd: available + spent,
  access_until: 0,
});

const billedUsage = ({ spent }: Dollars): object => ({ object: 'list', total_usage: spent * 100n });

const creditGrants = ({ available, spent }: Dollars): object => ({
  object: 'credit_summary',
  total_granted: available + spent,
  total_used: spent,
  total_available: available,
});

/** new-api's unit of quota: so many to the dollar. */
const quotaPerDollar = 500_000n;
const nanoPerDollar = 1_000_000_000n;

/** new-api's members (github.com/QuantumNous/new-api, controller/token.go). */
const tokenAnswer = (usdRatePpm: bigint): FiguresAnswer =>
  function* ({ principal, ...query }) {
    const figures = yield* keyFigures(principal, query);
    const { available, spent } = dollarsOf(figures, usdRatePpm);
    const left = (available * quotaPerDollar) / nanoPerDollar;
    const used = divideUp(spent * quotaPerDollar, nanoPerDollar);
    return {
      code: true,
      message: 'ok',
      data: {
        object: 'token_usage',
        name: figures.name,
        total_granted: Number(left + used),
        total_used: Number(used),
        total_available: Number(left),
        unlimited_quota: false,
        model_limits: Object.fromEntries([...(principal.models ?? [])].map((id) => [id, true])),
        model_limits_enabled: principal.models !== undefined,
        expires_at: Math.floor((principal.expiresAt ?? 0) / 1_000),
      },
    };
  };
