import { Refusal } from '../../src/base/refusal.ts';
import { vendors } from '../../src/providers/index.ts';
import { recordedRequests, type RecordedRequest } from '../recorded-traffic.ts';
import { asked, type Format, formats, requiredMember } from './asking.ts';
import { isObject, type Json, listOf } from '../vendor-schemas/shape.ts';

// The native comparison: a recorded request, sent through the real adapter of the vendor that took
// it, keeps every top-level member.

/** Members that the gateway handles, with the reason. */
const ours: Readonly<Record<string, string>> = {
  model: 'the client’s name of a model is not the vendor’s',
  stream_options: 'usage is always asked for: it is what is charged',
  store: 'what is kept is kept by the gateway',
  previous_response_id: 'the gateway has what came before, and says it',
  conversation: 'the same',
  include: 'what is signed is always asked for: checked to hold what the client asked for',
};

/** Members that the gateway changes for a vendor, with the reason. */
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
  /** The refusal, or the changed members. */
  readonly wrong: readonly string[];
}

/** The gateway leaves out reasoning that it did not seal: it means nothing to the vendor. */
const unsealed = (items: unknown): unknown =>
  Array.isArray(items)
    ? items.filter((one) => !isObject(one) || one['type'] !== 'reasoning')
    : items;

/** The gateway adapts ids of calls for vendors with stricter ids. */
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
 * Vendors with a format of their own; Tollgate does not use their second API in OpenAI's format.
 */
const translated = new Set(['anthropic', 'gemini', 'vertex', 'bedrock', 'cohere']);

function compare(request: RecordedRequest, format: Format): Compared | undefined {
  const { id, vendor, body, url } = request;
  const model = typeof body['model'] === 'string' ? body['model'] : undefined;
  // `llama-cpp`: another vendor's server stands in for this one.
  if (
    model === undefined ||
    model.startsWith('llama-cpp') ||
    body[requiredMember[format]] === undefined
  )
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
  // The gateway refuses files in the operator's account at the vendor: nobody can tell which user
  // owns them (R9).
  if (sent instanceof Refusal && sent.refusal === 'kept_at_the_vendor') return undefined;
  if (sent instanceof Refusal) return { ...one, wrong: [`refused: ${sent.param ?? ''}`] };
  const end = (path: string): string =>
    /[a-z]+(?:\/completions)?$/.exec(path.split(/[?#]/)[0] ?? '')?.[0] ?? '';
  // The vendor's other format: the matrix judges translations.
  if (end(sent.ask.path) !== end(url))
    return translated.has(vendor) ? undefined : { ...one, wrong: [`went to ${sent.ask.path}`] };
  return { ...one, wrong: different(vendor, body, sent.body) };
}

/** Every recorded request that its vendor accepted, in the vendor's own format. */
export function comparisons(folder: string): Compared[] {
  return recordedRequests(folder).flatMap((request) => {
    const format = formats.find((one) => one === request.endpoint);
    const speaks =
      format !== undefined && vendors.get(request.vendor)?.adapters[format] !== undefined;
    if (!speaks || request.status >= 300) return [];
    return compare(request, format) ?? [];
  });
}
