import type { Fault } from '../../../base/fault.ts';
import {
  type JsonChange,
  editJsonBytes,
  jsonText,
  countOf,
  type Documented,
  type JsonObject,
  listOf,
  numberOf,
  objectOf,
  textOf,
  type Unchecked,
} from '../../../base/json.ts';
import type { Measure, Quantities } from '../../../base/quantities.ts';
import {
  type VendorAnswer,
  type VendorRequest,
  type VendorCall,
  type GeneratedImage,
  type ImageAdapter,
  imageRequestOf,
} from '../../adapter.ts';
import { type ImageSize, type ImageRequest, imageSizeText } from '../../media-request.ts';
import { setAmong } from '../../not-sent.ts';
import { faultReader, faultWithin, protocolFault, type FaultRule } from '../fault.ts';
import { formRequest } from '../multipart.ts';
import { jsonHeaders } from '../json-request.ts';
import { objectIn } from '../reply.ts';
import { fittedSize, nearestRatio } from './request.ts';
import { imagesAnswer, imageUsageOf, splitByCount, partsWithImageUsage } from './response.ts';

/** A request's members that are read (developers.openai.com/api/reference/images, 2026-08). */
interface ImagesRequest {
  readonly n?: number;
  readonly size?: string;
  readonly partial_images?: number;
}

/**
 * `ImagesResponse` (developers.openai.com/api/reference/images, 2026-08), with the members of other
 * vendors of this format: SiliconFlow's `images`, Zhipu's `content_filter`.
 */
interface ImagesResponse {
  readonly id: string;
  readonly created: number;
  readonly data: readonly OpenAiImage[];
  readonly images: readonly OpenAiImage[];
  readonly usage: ImageUsage;
  readonly content_filter: readonly { readonly level: number }[];
}

/** An image: its address or its bytes (same section). xAI has the last member. */
interface OpenAiImage {
  readonly url: string;
  readonly b64_json: string;
  readonly revised_prompt: string;
  readonly respect_moderation: boolean;
}

/** `ImageGenUsage` (same section). Some vendors write the names of chat. */
export interface ImageUsage {
  readonly input_tokens: number;
  readonly input_tokens_details: ImageTokens;
  readonly output_tokens: number;
  readonly output_tokens_details: ImageTokens;
  readonly total_tokens: number;
  readonly prompt_tokens: number;
  readonly prompt_tokens_details: ImageTokens;
  readonly completion_tokens: number;
  readonly completion_tokens_details: ImageTokens;
}

/** The tokens by their kinds (same section). */
interface ImageTokens {
  readonly image_tokens: number;
  readonly text_tokens: number;
  readonly cached_tokens: number;
}

/** How a vendor departs from OpenAI's images. Each entry cites its page and date. */
export interface ImagesQuirks {
  /** Renamed members: client's name → vendor's name. */
  readonly rename?: Readonly<Record<string, string>>;
  /** Members that the vendor refuses, or that decide the price: the client's `size` sets those. */
  readonly drop?: readonly string[];
  /** The most images that the vendor makes at a time, or whose bytes fit into one answer. */
  readonly nMax?: (request: ImageRequest) => number;
  /** The members that replace `size`. Undefined: none. */
  readonly size?: (size: ImageSize, call: VendorCall) => JsonObject | undefined;
  /**
   * The vendor's name for the client's quality. Undefined: it has no such setting. Absent: the name
   * stays.
   */
  readonly quality?: (quality: string, model: string) => string | undefined;
  /** The vendor refuses `response_format` and always sends bytes. */
  readonly bytesOnly?: true;
  /** The vendor's name for `b64_json`. */
  readonly base64?: string;
  readonly faults?: readonly FaultRule[];
  readonly path?: string;
}

/** Members that Tollgate sets itself, or that a vendor has no use for. */
const ours = ['model', 'size', 'quality', 'response_format', 'n', 'stream', 'partial_images'];

/**
 * The members of the request beside its files: the client's, with this model's departures. An
 * undefined value removes the member.
 */
function changed(
  call: VendorCall<ImagesRequest>,
  quirks: ImagesQuirks,
): ReadonlyMap<string, unknown> {
  const { body, upstreamModel } = call;
  const request = imageRequestOf(call);
  const members = new Map<string, unknown>([['model', upstreamModel]]);
  const size = sizeSaid(call, quirks);
  members.set('size', size['size']);
  for (const [name, value] of Object.entries(size)) members.set(name, value);
  members.set('quality', qualitySaid(request, upstreamModel, quirks));
  members.set('n', request.n === 1 && body.n === undefined ? undefined : request.n);
  members.set('response_format', formatSaid(request, quirks));
  members.set('stream', call.stream ? true : undefined);
  members.set('partial_images', call.stream ? body.partial_images : undefined);
  for (const name of quirks.drop ?? []) if (!(name in size)) members.set(name, undefined);
  return members;
}

/** The client's members that this model does not get, beside those that Tollgate sets itself. */
function refused(call: VendorCall, quirks: ImagesQuirks): readonly string[] {
  const members = changed(call, quirks);
  return [...(quirks.drop ?? []).filter((name) => !ours.includes(name)), 'quality'].filter(
    (name) => members.has(name) && members.get(name) === undefined,
  );
}

function sizeSaid(call: VendorCall<ImagesRequest>, { size: write }: ImagesQuirks): JsonObject {
  const { size } = imageRequestOf(call);
  const requested = call.body.size;
  if (size === undefined)
    return typeof requested === 'string' && requested !== '' && write === undefined
      ? { size: requested }
      : {};
  return write === undefined ? { size: imageSizeText(size) } : (write(size, call) ?? {});
}

const qualitySaid = (
  { quality }: ImageRequest,
  model: string,
  { quality: write }: ImagesQuirks,
): string | undefined =>
  quality === undefined || write === undefined ? quality : write(quality, model);

function formatSaid(
  { returns }: ImageRequest,
  { bytesOnly, base64 = 'b64_json' }: ImagesQuirks,
): string | undefined {
  if (bytesOnly) return undefined;
  return returns === 'url' ? 'url' : base64;
}

/** The client's bytes with the changed members. */
function edited(call: VendorCall, quirks: ImagesQuirks): Buffer {
  const { body, bytes, skeleton } = call;
  const changes: JsonChange[] = [];
  for (const [name, value] of changed(call, quirks)) {
    if (value === undefined && body[name] === undefined) continue;
    if (value !== undefined && value === body[name]) continue;
    changes.push(value === undefined ? { path: [name] } : { path: [name], json: jsonText(value) });
  }
  for (const [from, to] of Object.entries(quirks.rename ?? {}))
    if (body[from] !== undefined) changes.push({ path: [from], name: to });
  return editJsonBytes(bytes, changes, skeleton);
}

/**
 * `/images/generations` of OpenAI and of all vendors of its format
 * (developers.openai.com/api/reference/images, 2026-08): the bytes stay the same except for the
 * model and the vendor's departures.
 */
export function openaiImages(quirks: ImagesQuirks = {}): ImageAdapter {
  const { nMax, path = '/images/generations' } = quirks;
  return {
    ask: (call) => ({
      path,
      headers: jsonHeaders,
      body: edited(call, quirks),
      dropped: setAmong(call, refused(call, quirks)),
    }),
    read: (reply, _, call) => read(reply, call, quirks),
    fault: faultReader(quirks.faults),
    ...(nMax === undefined
      ? {}
      : { split: (call) => partsWithImageUsage(splitByCount(call, nMax(imageRequestOf(call)))) }),
  };
}

/**
 * `/images/edits` as a form, which all of these vendors read; a client's JSON becomes the same
 * form.
 */
export function openaiEdits(quirks: ImagesQuirks = {}, path = '/images/edits'): ImageAdapter {
  const { nMax } = quirks;
  return {
    ask: (call) => form(call, quirks, path),
    read: (reply, _, call) => read(reply, call, quirks),
    fault: faultReader(quirks.faults),
    ...(nMax === undefined
      ? {}
      : { split: (call) => partsWithImageUsage(splitByCount(call, nMax(imageRequestOf(call)))) }),
  };
}

function form(call: VendorCall, quirks: ImagesQuirks, path: string): VendorRequest {
  const { images, mask, prompt } = imageRequestOf(call);
  const members = changed(call, quirks);
  const kept = Object.entries(call.body).filter(
    ([name]) =>
      !members.has(name) && !ours.includes(name) && !files.includes(name) && name !== 'prompt',
  );
  const words = quirks.drop?.includes('prompt') ? undefined : prompt || undefined;
  const fields = [...members, ['prompt', words] as const, ...kept].flatMap(([name, value]) => {
    const text = fieldOf(value);
    return text === undefined ? [] : [[quirks.rename?.[name] ?? name, text] as const];
  });
  const name = images.length > 1 ? 'image[]' : 'image';
  const request = formRequest(
    path,
    [...fields, ...images.map((image) => [name, image] as const), ['mask', mask]],
    call.answerId,
  );
  // A form carries no objects.
  const objects = kept.flatMap(([member, value]) => (fieldOf(value) === undefined ? member : []));
  return { ...request, dropped: setAmong(call, [...refused(call, quirks), ...objects]) };
}

/** Members that hold images. */
const files = ['image', 'images', 'mask'];

const fieldOf = (value: unknown): string | number | boolean | undefined =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : undefined;

function read(reply: Buffer, call: VendorCall, quirks: ImagesQuirks): VendorAnswer | Fault {
  const body: Documented<ImagesResponse> | undefined = objectIn(reply);
  if (body === undefined) return protocolFault('an answer that is no JSON object');
  const pictures = listOf(body.data ?? body.images).flatMap(pictureOf);
  if (pictures.length === 0)
    return (
      faultWithin(body, quirks.faults) ??
      heldBack(body) ??
      protocolFault('an answer without a picture')
    );
  const answer = imagesAnswer(call, pictures, textOf(body.id));
  if (!('body' in answer)) return answer;
  const { data: _, images: __, id: ___, ...more } = body;
  // Some vendors send no time, or 0.
  const created = numberOf(more.created) || call.created;
  return {
    ...answer,
    quantities: openaiImageUsage(body.usage),
    body: Buffer.from(JSON.stringify({ ...withoutCost(more, call), created })),
  };
}

/** Removes the vendor's price and other members that clients must not see. */
function withoutCost(more: JsonObject, call: VendorCall): JsonObject {
  const { model: _, usage: told, cost: __, timings: ___, seed, ...rest } = more;
  const usage = usageOf(objectOf(told) ?? {}, call);
  return {
    ...rest,
    ...(seed === undefined ? {} : { seed }),
    ...(usage === undefined ? {} : { usage }),
  };
}

/**
 * The usage in OpenAI's format, which requires the kinds of the input's tokens; undefined when they
 * are not known. Without images in the request, all of them are text.
 */
function usageOf(told: JsonObject, call: VendorCall): JsonObject | undefined {
  const quantities = openaiImageUsage(told);
  if (quantities === undefined) return undefined;
  const usage: Documented<ImageUsage> = told;
  const inputs = objectOf(usage.input_tokens_details);
  const required = [
    usage.input_tokens,
    usage.output_tokens,
    usage.total_tokens,
    inputs?.text_tokens,
    inputs?.image_tokens,
  ];
  if (required.every((count) => countOf(count) !== undefined)) return openaiMembers(told);
  const seen = (inputs ?? objectOf(usage.prompt_tokens_details))?.image_tokens;
  const { images, mask } = imageRequestOf(call);
  const known = countOf(seen) !== undefined || (images.length === 0 && mask === undefined);
  return known ? imageUsageOf(quantities) : undefined;
}

function openaiMembers(told: JsonObject): JsonObject {
  const names = [
    'input_tokens',
    'input_tokens_details',
    'output_tokens',
    'output_tokens_details',
    'total_tokens',
  ];
  return Object.fromEntries(names.flatMap((name) => (name in told ? [[name, told[name]]] : [])));
}

function pictureOf(item: Unchecked<OpenAiImage>): GeneratedImage[] {
  const told = objectOf(item);
  const base64 = textOf(told?.b64_json);
  const url = textOf(told?.url);
  const revisedPrompt = textOf(told?.revised_prompt);
  const from =
    base64 !== undefined && base64 !== ''
      ? { base64: bare(base64) }
      : url !== undefined && url !== ''
        ? source(url)
        : undefined;
  return from === undefined ? [] : [{ from, ...(revisedPrompt ? { revisedPrompt } : {}) }];
}

/** Some vendors write a data: URL where bytes belong, and others where an address does. */
const bare = (text: string): string => text.replace(/^data:[^,]*,/, '');
const source = (url: string): GeneratedImage['from'] =>
  url.startsWith('data:') ? { base64: bare(url) } : { url };

/**
 * The fault for images that were held back: Zhipu reports its filter's verdict beside an empty
 * list; xAI sets `respect_moderation: false` on an image.
 */
function heldBack(body: Documented<ImagesResponse>): Fault | undefined {
  const held = listOf(body.data).some((item) => objectOf(item)?.respect_moderation === false);
  const filtered = listOf(body.content_filter).some(
    (item) => (countOf(objectOf(item)?.level) ?? 9) < 2,
  );
  if (!held && !filtered) return undefined;
  return {
    kind: 'content_policy',
    message: "The vendor's safety system has rejected this request.",
  };
}

/**
 * The tokens of an image in disjoint measures (OpenAPI description, ImageGenUsage); undefined when
 * the vendor counts none.
 */
export function openaiImageUsage(usage: Unchecked<ImageUsage>): Quantities | undefined {
  const told = objectOf(usage);
  const input = countOf(told?.input_tokens) ?? countOf(told?.prompt_tokens);
  const output = countOf(told?.output_tokens) ?? countOf(told?.completion_tokens);
  if (told === undefined || input === undefined || output === undefined) return undefined;
  const inputs = objectOf(told.input_tokens_details) ?? objectOf(told.prompt_tokens_details);
  const outputs = objectOf(told.output_tokens_details) ?? objectOf(told.completion_tokens_details);
  const into: Partial<Record<Measure, number>> = {};
  const seen = Math.min(input, countOf(inputs?.image_tokens) ?? 0);
  const cached = Math.min(input - seen, countOf(inputs?.cached_tokens) ?? 0);
  const words = Math.min(output, countOf(outputs?.text_tokens) ?? 0);
  const put = (measure: Measure, tokens: number): void => {
    if (tokens > 0) into[measure] = tokens;
  };
  put('input', input - seen - cached);
  put('cached_input', cached);
  put('image_input', seen);
  put('output', words);
  put('image_output', output - words);
  return into;
}

const gptSizes = ['1024x1024', '1536x1024', '1024x1536'] as const;
/**
 * developers.openai.com/api/docs/guides/image-generation, 2026-11: from the second generation on,
 * sizes whose sides are multiples of 16 and that are neither too small nor too large.
 */
const custom = { step: 16, least: 656, most: 3_840, pixels: 8_294_400 } as const;
const customPixelsMin = 655_360;

/** The size nearest to the requested one that a GPT image model makes. */
function gptSize(size: ImageSize, { upstreamModel }: VendorCall): JsonObject {
  if (!/^gpt-image-[2-9]/.test(upstreamModel)) return { size: nearestRatio(size, gptSizes) };
  const grown = Math.max(1, Math.sqrt(customPixelsMin / (size.width * size.height)));
  // The small squares of older models become the standard square.
  if (grown > 1)
    return {
      size:
        size.width === size.height
          ? gptSizes[0]
          : imageSizeText(fittedSize(times(size, grown * 1.03), custom)),
    };
  return { size: imageSizeText(fittedSize(size, custom)) };
}

const times = ({ width, height }: ImageSize, by: number): ImageSize => ({
  width: Math.ceil(width * by),
  height: Math.ceil(height * by),
});

/** §3.1: qualities with the names of earlier models. */
export const gptQuality: Readonly<Record<string, string>> = { standard: 'medium', hd: 'high' };

/** The most bytes of one answer: an image of noise is no smaller in base64 than its pixels are. */
const answerBytes = 64_000_000;
const base64BytesPerPixel = 4;
const largestUsual: ImageSize = { width: 1_536, height: 1_024 };

/**
 * OpenAI's own models, and Azure's: `response_format` and `style` belonged to earlier models
 * (recorded 2026-08: "Unknown parameter").
 */
export const gptImages = {
  quality: (quality) => gptQuality[quality] ?? quality,
  size: gptSize,
  bytesOnly: true,
  nMax: ({ size = largestUsual }) =>
    Math.max(1, Math.floor(answerBytes / (size.width * size.height * base64BytesPerPixel))),
  drop: ['style', 'response_format'],
  // "moderation_blocked", "image_generation_user_error" (public issues, 2026-08)
  faults: [
    { code: /^moderation_blocked$/, kind: 'content_policy' },
    { text: /safety system/i, kind: 'content_policy' },
  ],
} satisfies ImagesQuirks;
