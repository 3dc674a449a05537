import { createHash } from 'node:crypto';
import { parseJson } from '../../src/api/request-body.ts';
import { parseChat } from '../../src/api/chat.ts';
import { parseMessages } from '../../src/api/messages.ts';
import { parseResponse } from '../../src/api/responses.ts';
import { Refusal, refusal } from '../../src/base/refusal.ts';
import type { Adapter, VendorRequest, VendorCall } from '../../src/providers/adapter.ts';
import { adaptersOf } from '../../src/providers/bridges/index.ts';
import { vendors } from '../../src/providers/index.ts';
import { sentBy } from '../recorded-traffic.ts';
import { isObject, type Json } from '../vendor-schemas/shape.ts';
import type { Target } from './targets.ts';
import { context } from '../support/parsed-request.ts';
import { vendorCall } from '../support/vendor-call.ts';

export type Format = 'chat' | 'responses' | 'messages';
export const formats: readonly Format[] = ['chat', 'responses', 'messages'];

/** The member that each format requires. */
export const requiredMember = {
  chat: 'messages',
  responses: 'input',
  messages: 'messages',
} as const;
const parsers = { chat: parseChat, responses: parseResponse, messages: parseMessages } as const;
const ids = { chat: 'chatcmpl-judged', responses: 'resp_judged', messages: 'msg_judged' } as const;

function adapterOf(format: Format, { vendor }: Target): Adapter {
  const known = vendors.get(vendor);
  const adapter = known && adaptersOf(known)[format];
  if (adapter === undefined) throw new Error(`${vendor} does not speak ${format}`);
  return adapter;
}

/** A client's request in this format, on its way to a model. */
export function callFor(
  format: Format,
  body: Json,
  { model }: Target,
  headers: Readonly<Record<string, string>> = {},
): VendorCall {
  const asked = { ...body, model: 'public/model' };
  const stream = body['stream'] === true;
  return vendorCall(asked, {
    publicModel: 'public/model',
    upstreamModel: model,
    stream,
    includeUsage: stream,
    streamUpstream: stream,
    clientHeaders: headers,
    answerId: ids[format],
    created: 1_700_000_000,
  });
}

export interface Sent {
  readonly adapter: Adapter;
  readonly call: VendorCall;
  readonly ask: VendorRequest;
  readonly body: Json;
}

/**
 * The vendor's request, or the refusal that the client gets: through the parser of the format, then
 * the vendor's adapter.
 */
export function asked(
  format: Format,
  body: Json,
  target: Target,
  headers: Readonly<Record<string, string>> = {},
): Sent | Refusal {
  try {
    const given = callFor(format, body, target, headers);
    const read = parseJson(given.bytes, 'application/json');
    const { media } = parsers[format]({ ...context, request: { headers: { ...headers } } }, read);
    // The catalog knows the media that a model takes; the gateway refuses others before it calls
    // a vendor.
    for (const kind of media.keys())
      if (!target.media.includes(kind))
        return refusal('unsupported_content', {
          model: target.model,
          content: kind,
          param: 'messages',
          accepted: target.media.join(', '),
        });
    const adapter = adapterOf(format, target);
    const call = { ...given, body: withBytes(given.body, adapter, given) };
    const ready = { ...call, bytes: Buffer.from(JSON.stringify(call.body)) };
    const ask = adapter.ask(ready);
    const sent: unknown = JSON.parse(sentBy(ask));
    if (!isObject(sent)) throw new Error('what is sent is no object');
    return { adapter, call: ready, ask, body: sent };
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

const dot =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const paper = Buffer.from('%PDF-1.4\n%%EOF').toString('base64');
const isAddress = (url: unknown): url is string => typeof url === 'string' && /^https?:/.test(url);

/**
 * Replaces media that the gateway would fetch for the vendor: here with one pixel and an empty
 * document.
 */
function withBytes(body: Json, adapter: Adapter, call: VendorCall): Json {
  const { needsBytes } = adapter;
  if (needsBytes === undefined) return body;
  const needed = (url: unknown, kind: 'image' | 'file'): boolean =>
    isAddress(url) && needsBytes({ url, kind, name: undefined }, call);
  const image = `data:image/png;base64,${dot}`;
  const file = `data:application/pdf;base64,${paper}`;
  const read = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(read);
    if (!isObject(value)) return value;
    const { type, image_url, file_url, source } = value;
    if (isObject(image_url) && needed(image_url['url'], 'image'))
      return { ...value, image_url: { ...image_url, url: image } };
    if (type === 'input_image' && needed(image_url, 'image')) return { ...value, image_url: image };
    if (type === 'input_file' && needed(file_url, 'file'))
      return { type, filename: 'paper.pdf', file_data: file };
    if (
      isObject(source) &&
      source['type'] === 'url' &&
      needed(source['url'], type === 'image' ? 'image' : 'file')
    ) {
      const [media_type, data] = type === 'image' ? ['image/png', dot] : ['application/pdf', paper];
      return { ...value, source: { type: 'base64', media_type, data } };
    }
    return Object.fromEntries(Object.entries(value).map(([name, below]) => [name, read(below)]));
  };
  const ready = read(body);
  return isObject(ready) ? ready : body;
}

/** Sorting by it gives a random order that stays the same. */
export const fixedOrder = (text: string): string => createHash('sha256').update(text).digest('hex');
