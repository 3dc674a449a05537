import ipaddr from 'ipaddr.js';
import * as z from 'zod';
import { isDay, isZone } from '../base/calendar.ts';
import { capabilities } from '../base/capability.ts';
import { type Fraction, readFraction } from '../base/fraction.ts';
import { isPlainText } from '../base/plain-text.ts';
import { isMeasure } from '../base/quantities.ts';
import { reason, type Reason, type ReasonCode, type ReasonValues } from '../base/reason.ts';
import { routingPolicies } from '../base/routing-policy.ts';
import { schemaMessage, unknownName } from './config-report.ts';
import { usdRate } from './configuration.ts';
import { exactDecimal, ppmPlaces } from './decimal.ts';
import { isSiteAddress, isVendorKey } from './channel-access.ts';
import { type ImageTerms, sidesOf, usualQualities } from './image-terms.ts';
import { minuteOf, type Times } from './price-windows.ts';
import type { ModelKind } from './snapshot.ts';

/**
 * The members of the configuration file. Every value arrives as text, true or false, list or map
 * (yaml-source.ts), and messages end the sentence that begins with the member's path.
 */
const modelKinds = [
  'chat',
  'completion',
  'embedding',
  'image',
  'transcription',
  'speech',
  'rerank',
  'moderation',
  'video',
] as const satisfies readonly ModelKind[];
const contents = ['text', 'image', 'audio', 'video', 'file', 'vector', 'scores'] as const;

interface SchemaIssue {
  readonly input?: unknown;
}

function expected(code: ReasonCode, values: ReasonValues = {}): (issue: SchemaIssue) => string {
  return ({ input }) =>
    input === undefined ? told('required') : told(code, { ...values, ...givenIn(input) });
}

const told = (code: ReasonCode, values?: ReasonValues): string =>
  schemaMessage(reason(code, values));

function givenIn(input: unknown): ReasonValues {
  if (typeof input === 'string' || typeof input === 'boolean') return { written: String(input) };
  return { shape: Array.isArray(input) ? 'list' : 'members' };
}

/** A map with these members and no other. Its error message has a line for each unknown member. */
function members<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape);
  const other = expected('not_members');
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => told('unknown_member', unknownName(key, known))).join('\n')
        : other(issue),
  });
}

function list<Item extends z.ZodType>(item: Item) {
  return z.array(item, { error: expected('not_a_list') });
}

/** Text that `read` turns into an integer, or else into the error message. */
function decimal(read: (text: string) => bigint | Reason | string) {
  return z.string({ error: expected('not_a_decimal') }).transform((text, context): bigint => {
    const value = read(text);
    if (typeof value === 'bigint') return value;
    const message = typeof value === 'string' ? value : schemaMessage(value);
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

const text = z.string({ error: expected('not_text') }).min(1, { error: told('empty') });

/** For names that stand in lists, logs and subjects of mails. */
const nameMax = 100;
const name = text.refine((written) => written.length <= nameMax && isPlainText(written), {
  error: told('not_a_name', { most: String(nameMax) }),
});
/** A vendor's key, without the line break that ends the file that it comes from. */
const secret = z
  .string({ error: expected('not_text') })
  .trim()
  .min(1, { error: told('empty') })
  .refine(isVendorKey, { error: told('not_one_line') });
const modelId = text.refine(isPlainText, { error: told('not_one_line') });

function count(least: number) {
  const wanted = expected('not_a_count', { least: String(least) });
  return z.string({ error: wanted }).transform((written, context): number => {
    const value = exactDecimal(written, 0);
    if (typeof value === 'bigint' && value >= least && value <= Number.MAX_SAFE_INTEGER)
      return Number(value);
    context.addIssue({ code: 'custom', message: wanted({ input: written }) });
    return z.NEVER;
  });
}

function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.enum(values, {
    error: ({ input }) =>
      expected('not_one_of', {
        choices: values.join(', '),
        ...(typeof input === 'string' && unknownName(input, values)),
      })({ input }),
  });
}

const perMillionTokens = decimal((written) => exactDecimal(written, 9)).optional();
const perOne = decimal((written) => exactDecimal(written, 15)).optional();

const tokenPrices = {
  input: perMillionTokens,
  cached_input: perMillionTokens,
  cache_write: perMillionTokens,
  cache_write_5m: perMillionTokens,
  cache_write_1h: perMillionTokens,
  output: perMillionTokens,
  reasoning: perMillionTokens,
  audio_input: perMillionTokens,
  audio_output: perMillionTokens,
  image_input: perMillionTokens,
  image_output: perMillionTokens,
};

/** One factor for all, or one for each measure that is named. */
const times = z.unknown().transform((written, context): Times => {
  const wrong = (message: string, path: readonly string[] = []): never => {
    context.addIssue({ code: 'custom', path: [...path], message });
    return z.NEVER;
  };
  const factorIn = (value: unknown): Fraction | string => {
    const read = typeof value === 'string' ? readFraction(value) : undefined;
    if (read === undefined) return expected('not_a_factor')({ input: value });
    return 'code' in read ? schemaMessage(read) : read;
  };
  if (typeof written !== 'object' || written === null || Array.isArray(written)) {
    const all = factorIn(written);
    return typeof all === 'string' ? wrong(all) : { all };
  }
  const each: Record<string, Fraction> = {};
  for (const [name, value] of Object.entries(written)) {
    const measures = name === 'cache_write' ? ['cache_write_5m', 'cache_write_1h'] : [name];
    if (!measures.every(isMeasure)) return wrong(told('unknown_price_member', { written: name }));
    const factor = factorIn(value);
    if (typeof factor === 'string') return wrong(factor, [name]);
    for (const measure of measures) each[measure] = factor;
  }
  return { each };
});

const minute = z.string({ error: expected('not_a_time') }).transform((written, context): number => {
  const read = minuteOf(written);
  if (read !== undefined) return read;
  context.addIssue({ code: 'custom', message: told('not_a_time', { written }) });
  return z.NEVER;
});

const zone = text.refine(isZone, {
  error: expected('not_a_zone'),
});

const windowSchema = members({
  name,
  zone,
  days: list(count(1).refine((day) => day <= 7, { error: told('not_a_weekday') })).optional(),
  from: minute,
  to: minute,
  wraps: z.boolean({ error: expected('not_a_boolean') }).optional(),
  except: text.optional(),
  times,
});
export type WrittenWindow = z.output<typeof windowSchema>;

const termName = text.refine((written) => /^[\w.-]{1,40}$/.test(written));

/**
 * The tiers that a request can name beside the standard one: values of `service_tier`, and of
 * Anthropic's `speed`. `flex`, `scale`, `priority`: OpenAPI description, ServiceTier, 2026-11.
 * `fast`: openai.com/api-fast-mode, 2026-07-30, and Anthropic's speed. `ultrafast`:
 * developers.openai.com/api/docs/guides/ultrafast-mode, 2026-09. `performance`:
 * console.groq.com/docs/service-tiers, 2026-08. Other vendors' names are among these.
 */
const modeNames: readonly string[] = [
  'flex',
  'fast',
  'priority',
  'ultrafast',
  'scale',
  'performance',
];
const modeName = text.refine((written) => modeNames.includes(written));

interface RecordIssue extends SchemaIssue {
  readonly code?: string | undefined;
}

/** The error message of `places`: for a wrong key, and for a value that is no map. */
const wrongPlace = (issue: RecordIssue): string =>
  issue.code === 'invalid_key' ? told('not_a_term_name') : expected('not_members')(issue);

/** The error message of `modes`: for an unknown key, and for a value that is no map. */
function wrongMode(issue: RecordIssue): string {
  if (issue.code !== 'invalid_key') return expected('not_members')(issue);
  const key = String(issue.input);
  const choices = modeNames.join(', ');
  return told('unknown_mode', { ...unknownName(key, modeNames), choices });
}

export const priceSchema = members({
  ...tokenPrices,
  image: perOne,
  megapixel: perOne,
  second: perOne,
  character: perOne,
  request: perOne,
  web_search: perOne,
  web_fetch: perOne,
  file_search: perOne,
  code_session: perOne,
  grounding_query: perOne,
  mcp_call: perOne,
  list_fees: z.boolean({ error: expected('not_a_boolean') }).optional(),
  tiers: list(
    members({
      above_input_tokens: count(1).optional(),
      above_output_tokens: count(1).optional(),
      times: times.optional(),
      ...tokenPrices,
    }),
  ).optional(),
  modes: z
    .record(modeName, members({ times, only: list(oneOf(capabilities)).optional() }), {
      error: wrongMode,
    })
    .optional(),
  places: z.record(termName, members({ times }), { error: wrongPlace }).optional(),
  windows: list(windowSchema).optional(),
  moment: oneOf(['sent', 'finished']).optional(),
  by: z
    .record(text, z.string({ error: expected('not_a_decimal') }), {
      error: expected('not_members'),
    })
    .optional(),
});
export type WrittenPrice = z.output<typeof priceSchema>;

export const groupSchema = members({
  name,
  price_multiplier: decimal((written) => exactDecimal(written, ppmPlaces)).optional(),
  limits: members({
    rpm: count(1).optional(),
    tpm: count(1).optional(),
    concurrency: count(1).optional(),
  }).optional(),
  policy: oneOf(routingPolicies).optional(),
  fallback_models: list(text).optional(),
});

export type WrittenGroup = z.output<typeof groupSchema>;

const anySizeSchema = members({
  step: count(1).optional(),
  longest: count(1).optional(),
  ratio: count(1).optional(),
  pixels_min: count(1).optional(),
  pixels_max: count(1).optional(),
});

const imageSize = text.refine((size) => size === 'auto' || sidesOf(size) !== undefined, {
  error: expected('not_a_size'),
});

interface UsualImage {
  readonly sizes?: readonly string[] | undefined;
  readonly any_size?: unknown;
  readonly qualities?: readonly string[] | undefined;
  readonly usual?: ImageTerms['usual'];
}

/** The usual size and quality must be among those that a request may name. */
function checkUsual(image: UsualImage, context: z.RefinementCtx): void {
  const { sizes, qualities = usualQualities, usual: { size, quality } = {} } = image;
  const allowed = image.any_size === undefined ? sizes : undefined;
  const check = (name: string, written = '', choices: readonly string[] = [written]): void => {
    const message = told('not_one_of', { choices: choices.join(', '), written });
    if (!choices.includes(written))
      context.addIssue({ code: 'custom', path: ['usual', name], message });
  };
  if (size !== undefined) check('size', size, allowed);
  if (quality !== undefined) check('quality', quality, qualities);
}

export const imageSchema = members({
  sizes: list(imageSize).optional(),
  any_size: anySizeSchema.optional(),
  qualities: list(text).optional(),
  usual: members({ size: imageSize.optional(), quality: text.optional() }).optional(),
  n: count(1).optional(),
  prompt_chars: count(1).optional(),
  returns: oneOf(['url', 'both']).optional(),
  tokens: z.record(text, count(1), { error: expected('not_members') }).optional(),
}).superRefine(checkUsual);
export type WrittenImage = z.output<typeof imageSchema>;

export const modelSchema = members({
  id: modelId,
  owned_by: text.optional(),
  kind: oneOf(modelKinds).optional(),
  context: count(1).optional(),
  max_output: count(1).optional(),
  modalities: members({
    in: list(oneOf(contents)).optional(),
    out: list(oneOf(contents)).optional(),
  }).optional(),
  top_speed: count(1).optional(),
  hedge_after_ms: count(1).optional(),
  durations: list(count(1)).optional(),
  image: imageSchema.optional(),
  shutdown_date: text.refine(isDay, { error: expected('not_a_date') }).optional(),
  price: priceSchema,
});
export type WrittenModel = z.output<typeof modelSchema>;

export const allContents: readonly string[] = contents;

/**
 * The members of a model that `prices import` reads; other members of a model may be present and
 * are ignored.
 */
export const pricedModelSchema = members({
  ...modelSchema.partial().shape,
  id: text,
  price: priceSchema,
});

const channelModel = z.preprocess(
  (written) => (typeof written === 'string' ? { id: written } : written),
  members({ id: text, upstream: text.optional(), durations: list(count(1)).optional() }),
);

export const channelSchema = members({
  name,
  vendor: text,
  base_url: text.optional(),
  api_key: secret.optional(),
  api_keys: list(secret).optional(),
  groups: list(text).optional(),
  models: list(channelModel).optional(),
  priority: count(0).optional(),
  weight: count(0).optional(),
  bills_cancelled_input: z.boolean({ error: expected('not_a_boolean') }).optional(),
  costs: z.record(text, priceSchema, { error: expected('not_members') }).optional(),
});
export type WrittenChannel = z.output<typeof channelSchema>;

/** `2026-10-01..2026-10-07`, or one day. */
const days = text.transform((written, context): readonly [string, string] => {
  const [first = '', last = first, ...more] = written.split('..');
  if (isDay(first) && isDay(last) && first <= last && more.length === 0) return [first, last];
  context.addIssue({
    code: 'custom',
    message: `must be a day or days such as 2026-10-01..2026-10-07, not '${written}'`,
  });
  return z.NEVER;
});

export const calendarSchema = members({
  name,
  known_until: text.refine(isDay, {
    error: (issue) => `must be a date such as 2027-12-31, not '${String(issue.input)}'`,
  }),
  days: list(days),
});

export const fileSchema = members({
  calendars: list(z.unknown()).optional(),
  settings: z.unknown().optional(),
  payments: z.unknown().optional(),
  signin: z.unknown().optional(),
  groups: list(z.unknown()).optional(),
  models: list(z.unknown()).optional(),
  channels: list(z.unknown()).optional(),
});

const host = text.refine(
  (written) => /^[\w.-]+$/.test(written) || ipaddr.isValid(written) || ipaddr.isValidCIDR(written),
  {
    error: (issue) =>
      `must be a host, an address or a network such as 10.0.0.0/8, not '${String(issue.input)}'`,
  },
);

export const mediaSchema = members({
  urls: count(0).optional(),
  file_bytes: count(1).optional(),
  request_bytes: count(1).optional(),
  redirects: count(0).optional(),
  total_ms: count(1).optional(),
  idle_ms: count(1).optional(),
  at_once: count(1).optional(),
  allow_private: list(host).optional(),
  kept_files: count(1).optional(),
  kept_bytes: count(1).optional(),
  kept_file_bytes: count(1).optional(),
  kept_seconds: count(1).optional(),
});
export type WrittenMedia = z.output<typeof mediaSchema>;

const videoSchema = members({ limit_seconds: count(1).optional() });

/** One id, or several. */
const modelIds = z.preprocess(
  (written) => (typeof written === 'string' ? [written] : written),
  list(modelId),
);

export const settingsSchema = members({
  usd_rate: decimal(usdRate).optional(),
  public_models: name.optional(),
  default_models: members({ image: modelIds.optional(), video: modelIds.optional() }).optional(),
  media: mediaSchema.optional(),
  video: videoSchema.optional(),
});

const address = text
  .refine(isSiteAddress, {
    error: expected('not_an_address'),
  })
  .transform((written) => written.replace(/\/+$/, ''));

export const signinSchema = members({
  sign_up: z.boolean({ error: expected('not_a_boolean') }).optional(),
  github: members({
    client_id: text,
    client_secret: text,
    base_url: address.optional(),
    api_url: address.optional(),
  }).optional(),
  wechat: members({
    app_id: text,
    app_secret: text,
    base_url: address.optional(),
    api_url: address.optional(),
  }).optional(),
});
export type WrittenSigninMembers = z.output<typeof signinSchema>;

const walletKey = {
  private_key: text.optional(),
  private_key_file: text.optional(),
  public_key: text.optional(),
  public_key_file: text.optional(),
};

/** One text, as the environment has it; the wallet knows the names. */
const walletMethods = list(text)
  .min(1, { error: told('empty') })
  .transform((names) => names.join(','));

export const paymentsSchema = members({
  // WeChat Pay takes no order on a phone that can be paid for a minute or less.
  expiry_minutes: count(2).optional(),
  wechat_pay: members({
    mch_id: text.optional(),
    app_id: text.optional(),
    serial: text.optional(),
    api_v3_key: text.optional(),
    public_key_id: text.optional(),
    base_url: text.optional(),
    methods: walletMethods.optional(),
    ...walletKey,
  }).optional(),
  alipay: members({
    app_id: text.optional(),
    seller_id: text.optional(),
    gateway: text.optional(),
    methods: walletMethods.optional(),
    ...walletKey,
  }).optional(),
});
