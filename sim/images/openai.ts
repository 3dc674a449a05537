import type { Complaint } from '../dialect.ts';
import type { ImageFacts } from '../image.ts';
import { type Json, list, text } from '../json.ts';
import { factsOf, type FormFile } from '../media/form.ts';
import { eventStream, type Writer } from '../play.ts';
import { countTokens } from '../tokens.ts';
import type { StreamEvent } from '../write.ts';
import { base64Of, type ImageCall, readSize, type Size, type ImageEndpoint } from './endpoint.ts';

/**
 * CreateImageRequest and CreateImageEditRequest of the OpenAPI description, 2026-08-21, and the
 * parameters of later models.
 */
const shared =
  'model prompt n size quality output_format output_compression background user stream partial_images complexity';
const ofGeneration = `${shared} moderation`.split(' ');
const ofEdit = `${shared} input_fidelity`.split(' ');

const retired = /^(?:dall-e-[23]|gpt-image-1)$/;
const ours = /^(?:gpt-image-|chatgpt-image-|sim-)/;
const fixedSizes = ['1024x1024', '1024x1536', '1536x1024', 'auto'];

const invalid = (param: string, value: unknown, known: readonly string[]): Complaint => ({
  param,
  code: 'invalid_value',
  message: `Invalid value: '${String(value)}'. Supported values are: ${known.map((one) => `'${one}'`).join(', ')}.`,
});
const unknown = (param: string): Complaint => ({
  param,
  code: 'unknown_parameter',
  message: `Unknown parameter: '${param}'.`,
});

/** The checks of both endpoints, in the order in which errors are reported. */
function complaintOf({ model, raw }: ImageCall, known: readonly string[]): Complaint | undefined {
  const stranger = Object.keys(raw).find((name) => !known.includes(name));
  if (stranger !== undefined) return unknown(stranger);
  if (model === '') return { message: 'you must provide a model parameter' };
  if (retired.test(model))
    return {
      kind: 'unknown_model',
      message: `The model \`${model}\` has been deprecated. Learn more: https://platform.openai.com/docs/deprecations`,
    };
  if (!ours.test(model))
    return {
      kind: 'unknown_model',
      param: 'model',
      message: `The model '${model}' does not exist.`,
    };
  const prompt = text(raw['prompt']);
  if (prompt === undefined)
    return {
      param: 'prompt',
      code: 'missing_required_parameter',
      message: "Missing required parameter: 'prompt'.",
    };
  if (prompt === '' || prompt.length > 32_000)
    return {
      param: 'prompt',
      code: prompt === '' ? 'empty_string' : 'string_above_max_length',
      message: "Invalid 'prompt': Expected a string with a length between 1 and 32000.",
    };
  return choices(model, raw) ?? sizes(model, raw) ?? numbers(raw);
}

function choices(model: string, raw: Json): Complaint | undefined {
  const more = /^gpt-image-2\.[56]/.test(model) ? ['xhigh', 'max'] : [];
  const formats = model.startsWith('gpt-image-2.6') ? ['svg', 'gif'] : [];
  const known: Readonly<Record<string, readonly string[]>> = {
    quality: ['low', 'medium', 'high', ...more, 'auto'],
    output_format: ['png', 'webp', 'jpeg', ...formats],
    background: ['transparent', 'opaque', 'auto'],
    moderation: ['low', 'auto'],
    input_fidelity: ['high', 'low'],
    complexity: ['low', 'medium', 'high'],
  };
  for (const [param, values] of Object.entries(known))
    if (raw[param] !== undefined && raw[param] !== null && !values.includes(String(raw[param])))
      return invalid(param, raw[param], values);
  return undefined;
}

function sizes(model: string, raw: Json): Complaint | undefined {
  const { size } = raw;
  if (size === undefined || size === null || fixedSizes.includes(String(size))) return undefined;
  const sides = readSize(size);
  if (sides === undefined || !/^(?:gpt-image-2|sim-)/.test(model))
    return invalid('size', size, fixedSizes);
  const [short, long] = [Math.min(sides.width, sides.height), Math.max(sides.width, sides.height)];
  const pixels = sides.width * sides.height;
  const fits =
    short % 16 === 0 &&
    long % 16 === 0 &&
    long <= 3_840 &&
    long <= short * 3 &&
    pixels >= 655_360 &&
    pixels <= 8_294_400;
  return fits
    ? undefined
    : { param: 'size', code: 'invalid_value', message: `Invalid size '${String(size)}'.` };
}

function numbers(raw: Json): Complaint | undefined {
  const ranges: readonly (readonly [string, number, number])[] = [
    ['n', 1, 10],
    ['output_compression', 0, 100],
    ['partial_images', 0, 3],
  ];
  for (const [param, least, most] of ranges) {
    const value = raw[param];
    if (value === undefined || value === null) continue;
    if (!Number.isInteger(Number(value)) || Number(value) < least || Number(value) > most)
      return {
        param,
        code: 'integer_out_of_range',
        message: `Invalid '${param}': expected a value between ${least} and ${most}.`,
      };
  }
  return undefined;
}

const imageTypes = ['PNG', 'JPEG', 'WebP'];

/** An edit is a form, or JSON with addresses. */
function editComplaint(call: ImageCall): Complaint | undefined {
  const { form, raw } = call;
  const { images: _, mask: __, ...members } = raw;
  const complaint = complaintOf({ ...call, raw: form === undefined ? members : raw }, ofEdit);
  if (complaint !== undefined) return complaint;
  if (form === undefined) return list(raw['images']).length > 0 ? undefined : unknownImages;
  const images = form.files.filter(({ name }) => name === 'image' || name === 'image[]');
  const [first] = images;
  if (first === undefined) return unknownImages;
  if (images.length > 1 && images.some(({ name }) => name === 'image'))
    return {
      param: 'image',
      code: 'duplicate_parameter',
      message: "Duplicate parameter: 'image'. You provided multiple values for this parameter.",
    };
  if (images.length > 16) return { param: 'image', message: 'Too many images: at most 16.' };
  for (const image of images) {
    const facts = factsOf(image);
    if (
      facts === undefined ||
      !imageTypes.includes(facts.format) ||
      image.type !== `image/${facts.format.toLowerCase()}`
    )
      return {
        param: 'image',
        code: 'unsupported_file_mimetype',
        message: `Invalid file 'image': unsupported mimetype ('${image.type}').`,
      };
  }
  return maskComplaint(
    form.files.find(({ name }) => name === 'mask'),
    factsOf(first),
  );
}

const unknownImages: Complaint = {
  param: 'image',
  code: 'missing_required_parameter',
  message: "Missing required parameter: 'image'.",
};

function maskComplaint(
  mask: FormFile | undefined,
  image: ImageFacts | undefined,
): Complaint | undefined {
  if (mask === undefined) return undefined;
  const facts = factsOf(mask);
  const bad = (message: string): Complaint => ({
    param: 'mask',
    code: 'invalid_mask_image_format',
    message,
  });
  if (facts?.format !== 'PNG' || ![4, 6].includes(mask.bytes[25] ?? 0))
    return bad('Invalid mask image format - mask must be a png with an alpha channel.');
  if (facts.width !== image?.width || facts.height !== image.height)
    return bad('Invalid mask image: its size does not match the size of the image.');
  return undefined;
}

/** Output tokens per megapixel. */
const tokensOf: Readonly<Record<string, number>> = {
  low: 272,
  medium: 1_760,
  high: 7_033,
  xhigh: 14_000,
  max: 28_000,
};
const tokensOfGiven = 1_000;

function facts(call: ImageCall) {
  const { raw, form } = call;
  const size: Size = readSize(raw['size']) ?? { width: 1_024, height: 1_024 };
  const asGiven = text(raw['quality']);
  const quality = asGiven === undefined || asGiven === 'auto' ? 'high' : asGiven;
  const n = Number(raw['n'] ?? 1);
  const given = form === undefined ? list(raw['images']).length : form.files.length;
  const each = Math.ceil(((tokensOf[quality] ?? 0) * size.width * size.height) / 1_048_576);
  const promptTokens = countTokens(text(raw['prompt']) ?? '');
  const partials = Number(raw['partial_images'] ?? 0) * 100;
  const input = promptTokens + given * tokensOfGiven;
  const output = each * n + partials;
  return {
    size,
    n,
    shown: {
      size: `${size.width}x${size.height}`,
      quality,
      background: raw['background'] === 'transparent' ? 'transparent' : 'opaque',
      output_format: text(raw['output_format']) ?? 'png',
    },
    usage: {
      input_tokens: input,
      input_tokens_details: { image_tokens: given * tokensOfGiven, text_tokens: promptTokens },
      output_tokens: output,
      output_tokens_details: { image_tokens: output, text_tokens: 0 },
      total_tokens: input + output,
    },
  };
}

function writer(call: ImageCall, kind: 'image_generation' | 'image_edit'): Writer {
  const { size, n, shown, usage } = facts(call);
  const prompt = text(call.raw['prompt']) ?? '';
  const image = (what: string): string =>
    base64Of(call, what, size, shown.background === 'transparent');
  return {
    ...eventStream,
    whole: ({ created, usageReported }) => ({
      created,
      ...shown,
      data: Array.from({ length: n }, (_, i) => ({
        b64_json: image(i === 0 ? prompt : `${prompt} ${i + 1}`),
      })),
      ...(usageReported && { usage }),
    }),
    *events({ created, usageReported }): Generator<StreamEvent> {
      const event = (type: string, more: Json): string =>
        `event: ${kind}.${type}\ndata: ${JSON.stringify({ type: `${kind}.${type}`, ...more, created_at: created, ...shown })}\n\n`;
      for (let i = 0; i < Number(call.raw['partial_images'] ?? 0); i++)
        yield {
          text: event('partial_image', { b64_json: image(`${prompt}…`), partial_image_index: i }),
          piece: true,
          ends: false,
        };
      for (let i = 0; i < n; i++) {
        const last = i === n - 1;
        yield {
          text: event('completed', {
            b64_json: image(prompt),
            ...(last && usageReported && { usage }),
          }),
          piece: true,
          ends: last,
        };
      }
    },
    error: () =>
      `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'server_error', code: 'server_error', message: 'The server had an error.', param: null } })}\n\n`,
  };
}

const promptOf = ({ raw }: ImageCall): string => text(raw['prompt']) ?? '';

/** OpenAI's and Azure's endpoints. */
export const openAiImages: readonly ImageEndpoint[] = [
  {
    path: '/images/generations',
    prompt: promptOf,
    complaint: (call) => complaintOf(call, ofGeneration),
    writer: (call) => writer(call, 'image_generation'),
  },
  {
    path: '/images/edits',
    prompt: promptOf,
    complaint: editComplaint,
    writer: (call) => writer(call, 'image_edit'),
  },
];
