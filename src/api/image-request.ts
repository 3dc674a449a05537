import type { IncomingHttpHeaders } from 'node:http';
import { bytesPerTokenInput } from '../base/bytes-per-token.ts';
import { isObject } from '../base/json.ts';
import { mebibyte } from '../base/mebibyte.ts';
import { refuse } from '../base/refusal.ts';
import {
  type ImageTerms,
  qualitySynonyms,
  sidesOf,
  sizeProblem,
  tokensOf,
  usualNMax,
  usualPromptCharsMax,
  usualQualities,
} from '../catalog/image-terms.ts';
import type { Model } from '../catalog/snapshot.ts';
import type { KnownSize } from '../gateway/api-request.ts';
import { previewTokens } from '../gateway/answer-usage.ts';
import {
  digestOfForm,
  type FormFile,
  type Form,
  type FormLimits,
  isForm,
  readForm,
} from '../http/multipart.ts';
import { type HeldBody, readBody } from '../http/request-body.ts';
import { SpoolPool, spoolLimits } from '../http/spool.ts';
import {
  type DownloadedMedium,
  type Downloads,
  isDownloadFailure,
  type WantedMedium,
} from '../media/downloads.ts';
import { readImage } from '../media/image.ts';
import {
  type ImageSize,
  type ImageRequest,
  imageResolutionOf,
  imageSizeText,
  type InputImage,
} from '../providers/media-request.ts';
import * as schema from './schema.ts';
import {
  type ParsedJson,
  type RequestBody,
  checkInteger,
  checkLength,
  checksOf,
  fieldsOf,
  isAddress,
  parseJson,
  readersOf,
  refuseType,
} from './request-body.ts';

const partialsMax = 3;

/** A parameter with a fixed list of values, the same for every model. */
const choice = (description: string, known: readonly string[]) =>
  schema.checkedBy(
    (value, param) => checkChoice(value, param, known),
    schema.choice(description, known),
  );

/** In the order in which they are checked. */
const choices = {
  response_format: choice(
    'What the answer has for each image: a URL that expires after a day, or the bytes.',
    ['url', 'b64_json'],
  ),
  background: choice('For models that support transparent images.', [
    'transparent',
    'opaque',
    'auto',
  ]),
  output_format: choice('For models that support several formats.', [
    'png',
    'jpeg',
    'webp',
    'gif',
    'svg',
  ]),
  moderation: choice('How strict the moderation is; for models that support it.', ['low', 'auto']),
  style: choice('For models that support styles.', ['vivid', 'natural']),
  input_fidelity: choice('How closely the result follows the input images.', ['high', 'low']),
  output_compression: schema.integer('Compression in percent; for `jpeg` and `webp`.', 0, 100),
};

/** The members of a JSON body or a form, the pictures apart. */
export const imageMembers = {
  prompt: schema.string('What the image should show. The maximum length depends on the model.', {
    minLength: 1,
  }),
  model: schema.string('An image model. Default: the gateway’s default model, if there is one.', {
    minLength: 1,
  }),
  n: schema.integer('Number of images; default 1. The maximum depends on the model.', 1),
  size: schema.string(
    '`<width>x<height>` or `auto`. The sizes depend on the model; the error for a wrong size lists them.',
  ),
  quality: schema.string('`standard`, `hd`, or another quality of the model.'),
  ...choices,
  stream: schema.boolean(
    'Whether to stream images as events, with previews if the model supports them.',
  ),
  partial_images: schema.integer(
    'Number of previews per image; only with `stream`.',
    0,
    partialsMax,
  ),
  user: schema.string('Your ID for your end user.'),
};
const { prompt: promptMember, ...optionalMembers } = imageMembers;
const read = readersOf(schema.request({ prompt: promptMember }, optionalMembers));
const checkOptions = checksOf({ ...choices, user: imageMembers.user });

/** The model that the request names, if it names one. */
export const readImageModel = read.model;

/**
 * The client's options, checked against the terms of the model. Throws the Refusal that lists what
 * is allowed.
 */
export function parseImageOptions(
  body: RequestBody,
  terms: ImageTerms,
  prompt: string,
  { images, mask }: InputImages,
): ImageRequest {
  checkOptions(body);
  const { n, response_format: format } = body;
  return {
    prompt,
    n: n == null ? 1 : checkInteger(n, 'n', 1, terms.nMax ?? usualNMax),
    size: sizeOf(body, terms),
    quality: qualityOf(body, terms),
    // Stream events always carry the bytes.
    returns:
      body['stream'] === true
        ? 'b64_json'
        : format === 'url' || format === 'b64_json'
          ? format
          : (terms.returns ?? 'url'),
    partials: partialsOf(body),
    images,
    mask,
  };
}

export function parseImagePrompt(
  body: RequestBody,
  { promptCharsMax = usualPromptCharsMax }: ImageTerms,
): string {
  const prompt = read.prompt(body);
  checkLength(prompt, 'prompt', promptCharsMax, 'characters');
  return prompt;
}

function checkChoice(value: unknown, param: string, known: readonly string[]): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') refuseType(param, 'a string', value);
  if (!known.includes(value))
    refuse('invalid_value', {
      param,
      why: `'${value}' is not supported by this model. Supported values are: ${known.join(', ')}.`,
    });
  return value;
}

function sizeOf(body: RequestBody, terms: ImageTerms): ImageSize | undefined {
  const { size } = body;
  const usual = terms.usual?.size === undefined ? undefined : sidesOf(terms.usual.size);
  if (size === undefined || size === null || size === '') return usual;
  if (typeof size !== 'string') refuseType('size', 'a string', size);
  const why = sizeProblem(terms, size);
  if (why !== undefined) refuse('invalid_value', { param: 'size', why });
  return size === 'auto' ? usual : sidesOf(size);
}

function qualityOf(body: RequestBody, { qualities, usual }: ImageTerms): string | undefined {
  const quality = checkChoice(body['quality'], 'quality', qualities ?? usualQualities);
  return quality === undefined || quality === 'auto' ? (usual?.quality ?? quality) : quality;
}

function partialsOf(body: RequestBody): number {
  const stream = read.stream(body) ?? false;
  const partials = read.partial_images(body) ?? 0;
  if (partials > 0 && !stream)
    refuse('invalid_value', { param: 'partial_images', why: 'it goes with stream: true.' });
  return partials;
}

/**
 * An input image costs at most this many tokens
 * (developers.openai.com/api/docs/guides/image-generation, high fidelity, 2026-08).
 */
const tokensPerGiven = 6_500;
const tokensPerImageUnknown = 16_384;
/** Where neither the request nor the catalog gives a size, a model makes no larger image. */
const largestUsual: ImageSize = { width: 1_536, height: 1_024 };
const megapixel = 1_024 * 1_024;

/** The size of the request in the units by which models are priced. */
export function estimateImageUsage(
  request: ImageRequest,
  { image: terms = {}, outputTokensMax }: Model,
): KnownSize {
  const { prompt, n, quality, images, mask, partials } = request;
  const size = request.size ?? largestUsual;
  const tokens =
    tokensOf(terms, quality, size.width * size.height) ?? outputTokensMax ?? tokensPerImageUnknown;
  const likely = {
    input: Math.ceil(Buffer.byteLength(prompt) / bytesPerTokenInput) + 8,
    image_input: (images.length + (mask ? 1 : 0)) * tokensPerGiven,
  };
  const measured = { image: 1, megapixel: Math.ceil((size.width * size.height) / megapixel) };
  const most = {
    ...likely,
    image: n,
    megapixel: measured.megapixel * n,
    image_output: (tokens + partials * previewTokens) * n,
  };
  return {
    most,
    measured: {},
    likely,
    image: { measured, likely: { image_output: tokens } },
    variants: variantsOf(request),
  };
}

function variantsOf({ size, quality }: ImageRequest): readonly string[] {
  const sizes = size === undefined ? [] : [imageSizeText(size), imageResolutionOf(size)];
  const other = qualitySynonyms[quality ?? ''];
  const qualities = [quality, other].flatMap((name) => name ?? []);
  return [
    ...qualities.flatMap((name) => sizes.map((each) => `${each}/${name}`)),
    ...sizes,
    ...qualities,
  ];
}

const noContents: ReadonlyMap<string, DownloadedMedium> = new Map();

/** The input images of one request, and its mask. */
export interface InputImages {
  readonly images: readonly InputImage[];
  readonly mask: InputImage | undefined;
}

/** An image as the client sent it: its bytes, or the address that has them. */
interface SentImage {
  readonly param: string;
  readonly content: Buffer | { readonly url: string };
}

/**
 * Reads the images of the form or the JSON body, downloads and checks them. Throws the Refusal that
 * names the wrong one.
 */
export async function readInputImages(
  body: RequestBody,
  files: readonly FormFile[],
  download: (wanted: readonly WantedMedium[]) => ReturnType<Downloads['all']>,
): Promise<InputImages> {
  const sent = [...(await imagesInForm(files)), ...imagesInJson(body)];
  const wanted = sent.flatMap(({ content }) =>
    Buffer.isBuffer(content) ? [] : [{ url: content.url, kind: 'image' as const }],
  );
  const had = wanted.length === 0 ? noContents : await download(wanted);
  if (isDownloadFailure(had)) {
    const at = sent.find(({ content }) => !Buffer.isBuffer(content) && content.url === had.url);
    refuse('invalid_value', { param: at?.param ?? 'image', why: had.why });
  }
  const checked = sent.map(({ param, content }) => {
    const bytes = Buffer.isBuffer(content)
      ? content
      : Buffer.from(had.get(content.url)?.base64 ?? '', 'base64');
    return { param, ...checkImageBytes(param, bytes) };
  });
  const images = checked.filter(({ param }) => !isMask(param));
  const [first] = images;
  if (first === undefined) refuse('missing_parameter', { param: 'image' });
  checkLength(images, 'image', imagesMax, 'pictures');
  return {
    images: images.map(plain),
    mask: maskFor(
      first,
      checked.find(({ param }) => isMask(param)),
    ),
  };
}

type CheckedImage = InputImage & { readonly param: string; readonly alpha: boolean };

const plain = ({ type, width, height, bytes }: InputImage): InputImage => ({
  type,
  width,
  height,
  bytes,
});
const isMask = (param: string): boolean => param.startsWith('mask');

function checkImageBytes(param: string, bytes: Buffer): InputImage & { readonly alpha: boolean } {
  const facts = readImage(bytes);
  if (typeof facts === 'string') refuse('invalid_value', { param, why: facts });
  return { ...facts, bytes };
}

function maskFor(image: InputImage, mask: CheckedImage | undefined): InputImage | undefined {
  if (mask === undefined) return undefined;
  const { param } = mask;
  if (mask.type !== 'image/png')
    refuse('invalid_value', { param, why: `a mask is a PNG; this is ${mask.type}.` });
  if (!mask.alpha)
    refuse('invalid_value', {
      param,
      why: 'a mask is transparent where the picture is to change; this one has no transparency.',
    });
  if (mask.width !== image.width || mask.height !== image.height)
    refuse('invalid_value', {
      param,
      why: `a mask is as large as its picture: ${image.width}x${image.height}, not ${mask.width}x${mask.height}.`,
    });
  return plain(mask);
}

/** `image`, `image[]`, `image[0]`, and any of them repeated; `mask`. */
async function imagesInForm(files: readonly FormFile[]): Promise<readonly SentImage[]> {
  for (const { field } of files)
    if (!/^(?:image(?:\[\d*\])?|mask)$/.test(field))
      refuse('invalid_value', {
        param: field.slice(0, 64) || 'file',
        why: 'a file is sent as image or mask.',
      });
  return Promise.all(
    files.map(async ({ field, content }) => ({
      param: isMask(field) ? 'mask' : 'image',
      content: await content.bytes(),
    })),
  );
}

/**
 * `images: [{image_url}]` and `mask: {image_url}`; a bare address, and `image`, are understood too.
 */
function imagesInJson(body: RequestBody): readonly SentImage[] {
  const name = body['images'] === undefined || body['images'] === null ? 'image' : 'images';
  const list = body[name];
  const listed = Array.isArray(list)
    ? list.map((one: unknown, i) => reference(one, `${name}[${i}]`))
    : [reference(list, name)];
  return [...listed, reference(body['mask'], 'mask')].flatMap((one) => one ?? []);
}

function reference(value: unknown, param: string): SentImage | undefined {
  if (value === undefined || value === null) return undefined;
  const source: unknown = isObject(value) ? (value['image_url'] ?? value['url']) : value;
  const address: unknown = isObject(source) ? source['url'] : source;
  if (isObject(value) && value['file_id'] !== undefined && address === undefined)
    refuse('invalid_value', {
      param: `${param}.file_id`,
      why: 'there are no uploaded files here. Send the picture itself, or its address.',
    });
  if (typeof address !== 'string')
    refuseType(param, 'an address: {"image_url": "https://…"} or a data: URL', address);
  const inline = /^data:([^,]*),/i.exec(address.slice(0, 256));
  if (inline !== null) {
    if (!/;base64$/i.test(inline[1] ?? ''))
      refuse('invalid_value', { param, why: 'a data: URL of a picture is in base64.' });
    return { param, content: Buffer.from(address.slice(inline[0].length), 'base64') };
  }
  if (!isAddress(address))
    refuse('invalid_value', { param, why: 'it is neither an http(s): address nor a data: URL.' });
  return { param, content: { url: address } };
}

/**
 * The most input images, as in the convention (developers.openai.com/api/reference/images,
 * 2026-08).
 */
export const imagesMax = 16;
const formLimits: FormLimits = {
  fields: 64,
  fieldBytes: mebibyte,
  files: imagesMax + 1,
  fileBytes: 50 * mebibyte,
  bodyBytes: 100 * mebibyte,
};
const jsonBytesMax = 50 * mebibyte;

/**
 * Spools for images that are edited. They are held as a whole, since vendors take them so; all
 * requests together hold no more than this.
 */
export const imageSpools = (): SpoolPool =>
  new SpoolPool({
    ...spoolLimits,
    memoryBytesMax: formLimits.fileBytes,
    bytesMax: 1024 * mebibyte,
  });

/** The body of a request to an endpoint that takes images. */
export interface ImagesBody extends ParsedJson {
  /** Empty when it was a form. */
  readonly bytes: Buffer;
  readonly files: readonly FormFile[];
  /** Stands for all that the client sent. */
  readonly content: () => Buffer | Promise<string>;
  readonly discard: () => void;
}

/** Reads a form or a JSON body to its end. Throws the Refusal when it cannot be read. */
export async function readImagesBody(
  stream: unknown,
  headers: IncomingHttpHeaders,
  spools: SpoolPool,
  held: HeldBody | undefined,
): Promise<ImagesBody | 'left'> {
  if (isForm(headers)) {
    const form = await readForm(stream, headers, formLimits, spools);
    return form === 'left' ? form : fromForm(form);
  }
  const sent = await readBody(stream, headers, jsonBytesMax, held);
  if (sent === 'left') return sent;
  const type = headers['content-type'] ?? '';
  if (!/json/i.test(type))
    refuse('wrong_content_type', {
      got: type.split(';', 1)[0] || 'none',
      expected: 'multipart/form-data or application/json',
    });
  return {
    ...parseJson(sent, type),
    files: [],
    content: () => sent,
    discard: () => {},
  };
}

function fromForm(form: Form): ImagesBody {
  const body = Object.fromEntries(
    fieldsOf(form.fields).map(([name, value]) => [name, valueOf(name, value)]),
  );
  return {
    body,
    bytes: Buffer.alloc(0),
    skeleton: undefined,
    files: form.files,
    content: () => digestOfForm(form),
    discard: () => form.discard(),
  };
}

const numbers = new Set(['n', 'output_compression', 'partial_images']);
const flags: Readonly<Record<string, boolean>> = { true: true, false: false };

/**
 * Forms carry only text. A value that should be a number and is none stays text, so that the checks
 * refuse it.
 */
function valueOf(name: string, value: string): unknown {
  if (numbers.has(name) && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(value.trim())) return Number(value);
  return name === 'stream' ? (flags[value.trim().toLowerCase()] ?? value) : value;
}
