// Converts a collected list of models (one JSON array) to the gateway's catalog: node
// scripts/catalogue.mjs PATH. Writes src/catalog/data/models.json, and prints each entry that it
// left out, with the reason.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const target = fileURLToPath(new URL('../src/catalog/data/models.json', import.meta.url));
/** The list uses other names for some vendors than the configuration file. */
const vendorNames = { dashscope: 'qwen', google: 'gemini' };
/** `owned_by` is the family name that clients know. */
const families = { alibaba: 'qwen', bytedance: 'doubao', tencent: 'hunyuan' };
const tokenMembers = [
  'input',
  'cached_input',
  'cache_write_5m',
  'cache_write_1h',
  'output',
  'reasoning',
];
const mediaMembers = ['audio_input', 'audio_output', 'image_input', 'image_output'];
/** Sources other than the vendor itself: general knowledge, and resellers. */
const doubt = /general-knowledge|reseller|not verified|by pattern|\(fal\)|302\.ai|venice|muapi/;

/**
 * Sizes that clients send whatever the model; a model with other sizes gets the nearest of its own.
 */
const usualSizes = ['auto', '1024x1024', '1536x1024', '1024x1536', '1792x1024', '1024x1792'];
const fullHdSizes = ['1920x1080', '1080x1920', '1440x1080', '1080x1440'];
const resolutionSizes = { '2K': '2048x2048', '4K': '4096x4096' };
/** Sizes by rule: developers.openai.com/api/docs/guides/image-prompting; docs.bfl.ai. */
const customSizes = {
  openai: { step: 16, longest: 3840, ratio: 3, pixelsMin: 655360, pixelsMax: 8294400 },
  bfl: { step: 32, longest: 2048, pixelsMin: 65536, pixelsMax: 4194304 },
};
/**
 * Retired ids keep their terms: clients may still send the parameters that they could always send.
 */
const promptChars = { 'dall-e-2': 1000, 'dall-e-3': 4000 };
/**
 * Output tokens of a one-megapixel image by quality: the vendor's estimate of one image divided by
 * the price of a token; where there is none, twice the step below.
 */
const imageTokens = [
  [
    /^gpt-image-2/,
    {
      low: 300,
      medium: 1800,
      high: 7100,
      xhigh: 14200,
      max: 28400,
      auto: 7100,
      standard: 1800,
      hd: 7100,
    },
  ],
  [
    /^(gpt-image-1|chatgpt-image)/,
    { low: 280, medium: 1100, high: 4200, auto: 4200, standard: 1100, hd: 4200 },
  ],
  [/^gemini-/, { any: 4096 }],
];

/** Models whose API format the gateway does not support. */
const unspoken = {
  'gemini-omni-flash-preview': 'its videos are had through the interactions interface alone',
  gen4_aleph: 'makes videos of videos',
};

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('usage: node scripts/catalogue.mjs PATH');
const models = [];
/** Modes and regions, which the list does not have: by vendor and id, each with its source. */
const terms = JSON.parse(readFileSync(new URL('price-terms.json', import.meta.url), 'utf8'));
/** Models that the list does not have. */
const more = JSON.parse(readFileSync(new URL('catalogue-more.json', import.meta.url), 'utf8'));
for (const row of [...JSON.parse(readFileSync(path, 'utf8')), ...more]) {
  const why = leftOut(row);
  if (why === undefined) models.push(reshape(row));
  else process.stdout.write(`left out: ${row.vendor} ${row.id}: ${why}\n`);
}
for (const { ids, vendor } of terms)
  if (!models.some((model) => model.vendor === vendor && new RegExp(ids).test(model.id)))
    throw new Error(`no model of ${vendor} is called ${ids}`);
mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, `[\n${models.map((model) => JSON.stringify(model)).join(',\n')}\n]\n`);
process.stdout.write(
  `${models.length} models, ${models.filter((model) => model.doubtful).length} of doubtful source\n`,
);

function leftOut({ id, price, price_reason: reason }) {
  if (unspoken[id] !== undefined) return unspoken[id];
  if (price === null) return `no price: ${reason ?? 'none known'}`;
  if (price.minimum !== undefined)
    return 'has a least charge of one call, which a price cannot say';
  if (price.audio_input_per_minute !== undefined)
    return 'bills audio by the minute beside its tokens, which a price cannot say';
  return undefined;
}

function reshape(row) {
  return {
    id: row.id,
    vendor: vendorName(row.vendor),
    owned_by: families[row.owned_by] ?? row.owned_by,
    kind: row.kind,
    upstream: row.upstream,
    context: row.context,
    max_output: row.max_output,
    modalities: row.modalities,
    durations: row.durations,
    image: row.kind === 'image' ? imageTerms(row) : undefined,
    reasoning: row.features.includes('reasoning') || undefined,
    retired_on: row.vendor === 'public' ? undefined : row.retired_on,
    shutdown_date: row.shutdown_date,
    maps_to: row.maps_to?.map(({ vendor, id }) => ({ vendor: vendorName(vendor), id })),
    price: reshapePrice(row),
    source: row.source,
    as_of: row.as_of,
    doubtful: doubt.test(`${row.source} ${row.note ?? ''}`) || undefined,
  };
}

function imageTerms({
  id,
  owned_by: owner,
  vendor,
  sizes = [],
  resolutions = [],
  qualities,
  price,
}) {
  const retired = vendor === 'public';
  const first = owner === 'openai';
  const chosen = id.startsWith('gpt-image');
  const own = sizes
    .map((size) => size.replace(/[*:]/, 'x'))
    .filter((size) => size === 'auto' || /^\d{3,}x\d{3,}$/.test(size));
  const more = [
    ...resolutions.flatMap((name) => resolutionSizes[name] ?? []),
    ...(price.by?.['1080p'] === undefined ? [] : fullHdSizes),
  ];
  const named = [
    ...(retired ? [] : ['standard', 'hd']),
    ...(qualities ?? ['auto']),
    ...(retired && chosen ? ['low', 'medium', 'high', 'auto'] : []),
  ];
  return {
    sizes: [
      ...new Set([...(first ? [] : usualSizes), ...own, ...more, ...(chosen ? ['auto'] : [])]),
    ],
    anySize: sizes.some((size) => size.startsWith('custom'))
      ? customSizes.openai
      : customSizes[vendor],
    qualities: [...new Set(named)],
    // The old vendor's defaults; another model would have other, dearer ones.
    usual: retired ? { size: '1024x1024', quality: 'standard' } : undefined,
    promptCharsMax: promptChars[id],
    // Clients of these models never had to request the bytes.
    returns: first && !id.startsWith('dall-e') ? 'both' : undefined,
    tokens:
      price.unit === 'per_million_tokens'
        ? imageTokens.find(([ids]) => ids.test(id))?.[1]
        : undefined,
  };
}

function vendorName(name) {
  return vendorNames[name] ?? name;
}

function reshapePrice(row) {
  const { kind, price, note = '' } = row;
  const { rates, measure } = ratesOf(
    kind,
    price.off_peak === undefined ? price : { ...price, ...price.off_peak },
    note,
  );
  // On token-priced images `by` is the vendor's estimate of one image, not a second charge.
  const variants = bySize(row);
  const by =
    variants !== undefined && measure !== undefined
      ? { measure, rates: texts(variants) }
      : undefined;
  const tiers = price.tiers?.map(({ above_input_tokens: above, ...parts }) => ({
    above_input_tokens: above,
    rates: tokenRates(parts),
  }));
  const later =
    price.then === undefined
      ? undefined
      : { until: price.valid_until, after: tokenRates(price.then) };
  return {
    currency: price.currency,
    ...withTerms(row, { rates, tiers, by }),
    ...later,
    windows: peak(price),
  };
}

/** DeepSeek's (api-docs.deepseek.com/quick_start/pricing, 2026-11-15): the list's price is that of the peak, which is twice the other. */
function peak({ input, cached_input: cached, output, off_peak: off }) {
  if (off === undefined) return undefined;
  const twice = [
    [input, off.input],
    [cached, off.cached_input],
    [output, off.output],
  ].every(([a, b]) => Math.abs(a - 2 * b) < 1e-9);
  if (
    !twice ||
    !off.when.startsWith(
      'outside Mon-Fri 09:00-12:00 and 14:00-18:00 Beijing time; weekends and Chinese public holidays',
    )
  )
    throw new Error(`hours that nobody has read: ${off.when}`);
  const hours = {
    name: 'peak',
    zone: 'Asia/Shanghai',
    days: [1, 2, 3, 4, 5],
    except: 'cn-public-holidays',
    times: '2',
  };
  return [
    { ...hours, from: '09:00', to: '12:00' },
    { ...hours, from: '14:00', to: '18:00' },
  ];
}

function withTerms({ id, vendor, kind }, { rates, ...rest }) {
  const own = terms.filter(
    (term) =>
      kind === 'chat' && term.vendor === vendorName(vendor) && new RegExp(term.ids).test(id),
  );
  const modes = Object.assign({}, ...own.map((term) => term.modes ?? {}));
  const places = Object.assign({}, ...own.map((term) => term.places ?? {}));
  const told = Object.entries(modes).map(([name, { rates: dear, times, only }]) => [
    name,
    { times: times ?? ratios(dear, rates), only },
  ]);
  return {
    rates,
    ...rest,
    modes: told.length === 0 ? undefined : Object.fromEntries(told),
    places: Object.keys(places).length === 0 ? undefined : places,
  };
}

/** The price of a mode as exact factors of the plain price. */
function ratios(dear, plain) {
  return Object.fromEntries(
    Object.entries(dear).map(([measure, amount]) => {
      const places = Math.max(decimalsOf(amount), decimalsOf(plain[measure]));
      const [over, under] = [scaled(amount, places), scaled(plain[measure], places)];
      const common = greatestCommon(over, under);
      return [
        measure,
        under === common ? String(over / common) : `${over / common}/${under / common}`,
      ];
    }),
  );
}

function decimalsOf(text) {
  return text.split('.')[1]?.length ?? 0;
}

function scaled(text, places) {
  return BigInt(text.replace('.', '')) * 10n ** BigInt(places - decimalsOf(text));
}

function greatestCommon(a, b) {
  return b === 0n ? a : greatestCommon(b, a % b);
}

/** For images, a resolution is the sizes that clients name; 720p has the plain price. */
function bySize({ kind, price: { by } }) {
  if (kind !== 'image' || by === undefined) return by;
  const { '720p': _, '1080p': fullHd, ...rest } = by;
  const dear = fullHd === undefined ? [] : fullHdSizes.map((size) => [size, fullHd]);
  const all = [...Object.entries(rest), ...dear];
  return all.length === 0 ? undefined : Object.fromEntries(all);
}

/** The price in the gateway's units, and the rate that `by` varies. */
function ratesOf(kind, price, note) {
  const { input, output } = price;
  const sold = input ?? output;
  switch (price.unit) {
    case 'per_million_tokens': {
      // A video's own tokens cost more than the text around it; both are output.
      const rates = tokenRates({ ...price, output: price.video_output ?? output });
      return { rates, measure: kind === 'video' ? 'output' : undefined };
    }
    case 'per_image':
      // A price of the first megapixel applies to each one: the others are not dearer.
      if (/megapixel/.test(note))
        return { rates: texts({ megapixel: output }), measure: undefined };
      return { rates: texts({ image: output }), measure: 'image' };
    case 'per_second':
      // `image_input` of video models is the price of one input image.
      return { rates: texts({ second: output, image: price.image_input }), measure: 'second' };
    case 'per_minute':
      return { rates: { second: shareUp(input, 60, 12) }, measure: 'second' };
    case 'per_million_chars':
      return { rates: { character: shareUp(input, 1_000_000, 15) }, measure: 'character' };
    case 'per_request':
      return { rates: texts({ request: sold }), measure: 'request' };
    default:
      throw new Error(`unknown unit ${price.unit}`);
  }
}

function tokenRates(parts) {
  return texts(
    Object.fromEntries([...tokenMembers, ...mediaMembers].map((member) => [member, parts[member]])),
  );
}

/** Numbers as the text they were written with, so that they stay exact. */
function texts(rates) {
  return Object.fromEntries(
    Object.entries(rates).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  );
}

/** value ÷ parts, rounded up at so many decimals. */
function shareUp(value, parts, decimals) {
  const [whole, fraction = ''] = String(value).split('.');
  const scaled = BigInt(whole + fraction) * 10n ** BigInt(decimals - fraction.length);
  const share = (scaled + BigInt(parts) - 1n) / BigInt(parts);
  const digits = share.toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`.replace(/\.?0+$/, '');
}
