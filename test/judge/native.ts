import { Refusal } from '../../src/base/refusal.ts';
import { vendors } from '../../src/providers/index.ts';
import { recordedRequests, type RecordedRequest } from '../recorded-traffic.ts';
import { asked, type Format } from './asking.ts';
import { isObject, type Json, listOf } from '../vendor-schemas/shape.ts';

// The native comparison: a recorded request, sent through the real adapter of the vendor that took
// it, keeps every top-level member.

/** Members that are ours, and why. */
const ours: Readonly<Record<string, string>> = {
  model: 'the client’s name of a model is not the vendor’s',
  stream_options: 'usage is always asked for: it is what is charged',
  store: 'what is kept is kept by the gateway',
  previous_response_id: 'the gateway has what came before, and says it',
  conversation: 'the same',
  include: 'what is signed is always asked for: checked to hold what the client asked for',
};

/** Members that a vendor does not get as they came, and why. */
const declared: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  openrouter: {
    models: 'another model would answer than the one that is charged',
    route: 'the same',
    usage: 'its own way to ask for usage, which is always asked for',
  },
};

export interface Compared {
  readonly id: string;
  readonly format: Format;
  readonly vendor: string;
  /** Refused, or what is not as it was. */
  readonly wrong: readonly string[];
}

const formatsOf: Readonly<Record<string, Format>> = {
  chat: 'chat',
  responses: 'responses',
  messages: 'messages',
};
const hearts = { chat: 'messages', responses: 'input', messages: 'messages' } as const;

/** Reasoning that no gateway has sealed says nothing to the vendor, and is left out. */
const unsealed = (items: unknown): unknown =>
  Array.isArray(items)
    ? items.filter((one) => !isObject(one) || one['type'] !== 'reasoning')
    : items;

/** Ids of calls are made fit for vendors that want them so. */
const text = (value: unknown): string =>
  JSON.stringify(value, (name, below: unknown) =>
    name === 'id' || name === 'tool_call_id' ? 'id' : below,
  );

function different(vendor: string, said: Json, sent: Json): string[] {
  const allowed = { ...ours, ...declared[vendor] };
  const unasked = listOf(said['include']).filter((one) => !listOf(sent['include']).includes(one));
  const changed = [...new Set([...Object.keys(said), ...Object.keys(sent)])]
    .filter(
      (name) =>
        allowed[name] === undefined &&
        said[name] !== null &&
        text(unsealed(said[name])) !== text(unsealed(sent[name])),
    )
    .map((name) => {
      if (sent[name] === undefined) return `${name}: is gone`;
      return said[name] === undefined ? `${name}: is new` : `${name}: is another`;
    });
  return [...changed, ...unasked.map((one) => `include: ${String(one)} is gone`)];
}

/**
 * Houses that speak a format of their own, whose chat convention is a second door that we do not
 * use.
 */
const translated = new Set(['anthropic', 'gemini', 'vertex', 'bedrock', 'cohere']);

function compare(request: RecordedRequest, format: Format): Compared | undefined {
  const { id, vendor, body, url } = request;
  const model = typeof body['model'] === 'string' ? body['model'] : undefined;
  // The second: a server of another house that plays the vendor.
  if (model === undefined || model.startsWith('llama-cpp') || body[hearts[format]] === undefined)
    return undefined;
  const { stream_options: _, ...rest } = body;
  const sent = asked(
    format,
    body['stream'] === true ? body : rest,
    { vendor, model, media: ['image', 'file', 'audio', 'video'], thinks: false },
    request.headers,
  );
  const one = { id, format, vendor };
  if (sent instanceof Refusal && body['conversation'] !== undefined) return undefined;
  // Files that lie in the operator's account at the vendor are refused on purpose: nobody can tell
  // whose they are (R9).
  if (sent instanceof Refusal && sent.refusal === 'kept_at_the_vendor') return undefined;
  if (sent instanceof Refusal) return { ...one, wrong: [`refused: ${sent.param ?? ''}`] };
  const end = (path: string): string =>
    /[a-z]+(?:\/completions)?$/.exec(path.split(/[?#]/)[0] ?? '')?.[0] ?? '';
  // The vendor's other format: what becomes of it is the translations' to judge.
  if (end(sent.ask.path) !== end(url))
    return translated.has(vendor) ? undefined : { ...one, wrong: [`went to ${sent.ask.path}`] };
  return { ...one, wrong: different(vendor, body, sent.body) };
}

/** Every recorded request that its vendor accepted, in the format that the vendor speaks itself. */
export function comparisons(folder: string): Compared[] {
  return recordedRequests(folder).flatMap((request) => {
    const format = formatsOf[request.endpoint];
    const speaks =
      format !== undefined && vendors.get(request.vendor)?.adapters[format] !== undefined;
    if (!speaks || request.status >= 300) return [];
    return compare(request, format) ?? [];
  });
}
