import type { Complaint } from '../dialect.ts';
import { decodeImage } from '../image.ts';
import { type Json, list, number, object, text } from '../json.ts';
import type { Writer } from '../play.ts';
import { wholeWriter } from '../vectors/writer.ts';
import {
  addressOf,
  base64Of,
  type ImageCall,
  readSize,
  sidesOf,
  type Size,
  type ImageEndpoint,
} from './endpoint.ts';

/** The checks that all of these share: known members, and a prompt. */
function usual({ raw }: ImageCall, known: string, promptMax = 10_000): Complaint | undefined {
  const stranger = Object.keys(raw).find((name) => !known.split(' ').includes(name));
  if (stranger !== undefined)
    return { param: stranger, message: `Argument not supported: ${stranger}` };
  const prompt = text(raw['prompt']);
  if (prompt === undefined || prompt === '')
    return { param: 'prompt', message: 'prompt is required' };
  return prompt.length > promptMax ? { param: 'prompt', message: 'prompt is too long' } : undefined;
}

function range(
  { raw }: ImageCall,
  param: string,
  least: number,
  most: number,
): Complaint | undefined {
  const value = raw[param];
  if (value === undefined) return undefined;
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most
    ? undefined
    : { param, message: `${param} must be between ${least} and ${most}` };
}

const oneOf = (
  { raw }: ImageCall,
  param: string,
  known: readonly string[],
): Complaint | undefined =>
  raw[param] === undefined || known.includes(String(raw[param]))
    ? undefined
    : { param, message: `${param} must be one of ${known.join(', ')}` };

/** Images in `data:` URLs whose bytes are images. */
const shown = (values: readonly unknown[], most: number): Complaint | undefined => {
  if (values.length > most) return { param: 'image', message: `at most ${most} images` };
  const wrong = values.find(
    (value) => !/^https?:/.test(String(value)) && decodeImage(String(value)) === undefined,
  );
  return wrong === undefined ? undefined : { param: 'image', message: 'invalid image' };
};

const words = ({ raw }: ImageCall): string => text(raw['prompt']) ?? '';
const nth = (call: ImageCall, i: number): string =>
  i === 0 ? words(call) : `${words(call)} ${i + 1}`;
const many = <T>(n: number, make: (i: number) => T): T[] =>
  Array.from({ length: n }, (_, i) => make(i));

const xaiRatios = '1:1 16:9 9:16 4:3 3:4 3:2 2:3 2:1 1:2 19.5:9 9:19.5 20:9 9:20 auto'.split(' ');
const xaiMembers = 'model prompt n aspect_ratio resolution response_format user';

function xaiComplaint(call: ImageCall, members: string): Complaint | undefined {
  const second = /-[2-9]\.\d|^sim-/.test(call.model);
  return (
    usual(call, second ? `${members} quality` : members) ??
    range(call, 'n', 1, 10) ??
    oneOf(call, 'aspect_ratio', xaiRatios) ??
    oneOf(call, 'resolution', ['1k', '2k']) ??
    oneOf(call, 'quality', ['low', 'medium']) ??
    oneOf(call, 'response_format', ['url', 'b64_json'])
  );
}

function xaiWriter(call: ImageCall): Writer {
  const { raw } = call;
  const ratio = text(raw['aspect_ratio']);
  const size = sidesOf(
    ratio === undefined || ratio === 'auto' ? '1:1' : ratio,
    raw['resolution'] === '2k' ? 4_194_304 : 1_048_576,
  );
  const n = number(raw['n']) ?? 1;
  return wholeWriter(() => ({
    data: many(n, (i) =>
      raw['response_format'] === 'b64_json'
        ? { b64_json: base64Of(call, nth(call, i), size), mime_type: 'image/png' }
        : { url: addressOf(call, nth(call, i), size), mime_type: 'image/png' },
    ),
    usage: { cost_in_usd_ticks: 200_000_000 * n },
  }));
}

/** docs.x.ai/developers/models/grok-imagine-image, 2026-08, and as recorded. */
export const xaiImages: readonly ImageEndpoint[] = [
  {
    path: '/images/generations',
    prompt: words,
    complaint: (call) => xaiComplaint(call, xaiMembers),
    writer: xaiWriter,
  },
  {
    path: '/images/edits',
    prompt: words,
    complaint: (call) => {
      const images = list(call.raw['images']).map(object);
      if (images.length === 0) return { param: 'images', message: 'images is required' };
      if (images.some(({ type }) => type !== 'image_url'))
        return { param: 'images', message: 'images[].type must be image_url' };
      return (
        xaiComplaint(call, `${xaiMembers} images`) ??
        shown(
          images.map(({ url }) => url),
          3,
        )
      );
    },
    writer: xaiWriter,
  },
];

const arkMembers =
  'model prompt image size response_format seed guidance_scale watermark sequential_image_generation sequential_image_generation_options optimize_prompt_options output_format stream';

function arkSize({ raw, model }: ImageCall): Size | Complaint {
  const named = String(raw['size'] ?? '2K');
  const sides = /^[124]K$/.test(named)
    ? { '1K': 1_024, '2K': 2_048, '4K': 4_096 }[named]
    : undefined;
  if (sides !== undefined) return { width: sides, height: sides };
  const size = readSize(named);
  const least = model.includes('seedream-4-0')
    ? 921_600
    : /seedream-3|^sim-/.test(model)
      ? 262_144
      : 3_686_400;
  const pixels = size === undefined ? 0 : size.width * size.height;
  if (size === undefined || pixels < least || pixels > 16_777_216)
    return {
      param: 'size',
      code: 'InvalidParameter',
      message: `The parameter \`size\` specified in the request is not valid: image size must be at least ${least} pixels.`,
    };
  return size;
}

/**
 * volcengine.com/docs/82379/1541523, 2026-08. The vendor ignores `n`, so the simulator refuses it:
 * a gateway that sends `n` would get one image for the price of several.
 */
export const arkImages: readonly ImageEndpoint[] = [
  {
    path: '/images/generations',
    prompt: words,
    complaint: (call) => {
      const size = arkSize(call);
      const format = call.raw['output_format'] !== undefined && !/seedream-[5-9]/.test(call.model);
      return (
        usual(call, arkMembers) ??
        ('message' in size ? size : undefined) ??
        shown([call.raw['image'] ?? []].flat(), 14) ??
        oneOf(call, 'response_format', ['url', 'b64_json']) ??
        (format
          ? { param: 'output_format', message: 'output_format is not supported by this model' }
          : undefined)
      );
    },
    writer: (call) => {
      const size = arkSize(call);
      const sides = 'message' in size ? { width: 1, height: 1 } : size;
      const output = Math.ceil((sides.width * sides.height) / 256);
      return wholeWriter(({ created, model }) => ({
        model,
        created,
        data: [
          call.raw['response_format'] === 'b64_json'
            ? {
                b64_json: base64Of(call, words(call), sides),
                size: `${sides.width}x${sides.height}`,
              }
            : {
                url: addressOf(call, words(call), sides),
                size: `${sides.width}x${sides.height}`,
              },
        ],
        usage: { generated_images: 1, output_tokens: output, total_tokens: output },
      }));
    },
  },
];

/** docs.together.ai/reference/post-images-generations, 2026-08. */
export const togetherImages: readonly ImageEndpoint[] = [
  {
    path: '/images/generations',
    prompt: words,
    complaint: (call) =>
      usual(
        call,
        'model prompt width height n steps seed guidance negative_prompt response_format output_format image_url image_loras disable_safety_checker',
      ) ??
      range(call, 'n', 1, 4) ??
      range(call, 'width', 64, 1_792) ??
      range(call, 'height', 64, 1_792) ??
      oneOf(call, 'response_format', ['url', 'base64']),
    writer: (call) => {
      const { raw } = call;
      const size = { width: number(raw['width']) ?? 1_024, height: number(raw['height']) ?? 1_024 };
      return wholeWriter(({ id, model }) => ({
        id,
        model,
        object: 'list',
        data: many(number(raw['n']) ?? 1, (index) =>
          raw['response_format'] === 'base64'
            ? { index, type: 'b64_json', b64_json: base64Of(call, nth(call, index), size) }
            : {
                index,
                type: 'url',
                url: addressOf(call, nth(call, index), size),
                timings: { inference: 0.4 },
              },
        ),
      }));
    },
  },
];

const kolors = ['1024x1024', '960x1280', '768x1024', '720x1440', '720x1280'];
const qwen = [
  '1328x1328',
  '1664x928',
  '928x1664',
  '1472x1140',
  '1140x1472',
  '1584x1056',
  '1056x1584',
];

/** docs.siliconflow.cn/cn/api-reference/images/images-generations, 2026-08. */
export const siliconflowImages: readonly ImageEndpoint[] = [
  {
    path: '/images/generations',
    prompt: words,
    complaint: (call) => {
      const { raw, model } = call;
      const sizes = /kolors/i.test(model) ? kolors : /qwen-image/i.test(model) ? qwen : undefined;
      return (
        usual(
          call,
          'model prompt negative_prompt image_size batch_size seed num_inference_steps guidance_scale cfg image image2 image3',
        ) ??
        (sizes === undefined ? undefined : oneOf(call, 'image_size', sizes)) ??
        range(call, 'batch_size', 1, 4) ??
        shown(
          [raw['image'], raw['image2'], raw['image3']].filter((one) => one !== undefined),
          3,
        )
      );
    },
    writer: (call) => {
      const size = readSize(call.raw['image_size']) ?? { width: 1_024, height: 1_024 };
      const images = many(number(call.raw['batch_size']) ?? 1, (i) => ({
        url: addressOf(call, nth(call, i), size),
      }));
      return wholeWriter(({ created }) => ({
        images,
        data: images,
        timings: { inference: 1.2 },
        seed: 42,
        shared_id: '0',
        created,
      }));
    },
  },
];

const fireworksRatios = '1:1 21:9 16:9 3:2 5:4 4:5 2:3 9:16 9:21 4:3 3:4'.split(' ');

/**
 * docs.fireworks.ai/api-reference/generate-a-new-image-from-a-text-prompt, 2026-08: the path
 * contains the model.
 */
export const fireworksImages: readonly ImageEndpoint[] = [
  {
    path: /^\/workflows\/(accounts\/[^/]+\/models\/[^/]+)\/text_to_image$/,
    prompt: words,
    complaint: (call) =>
      usual(call, 'prompt aspect_ratio guidance_scale num_inference_steps seed') ??
      oneOf(call, 'aspect_ratio', fireworksRatios),
    writer: (call) => {
      const image = base64Of(call, words(call), sidesOf(text(call.raw['aspect_ratio']) ?? '1:1'));
      return wholeWriter(({ id }) => ({
        id,
        base64: [`data:image/png;base64,${image}`],
        finishReason: 'SUCCESS',
        seed: 1,
      }));
    },
  },
];

/**
 * openrouter.ai/docs/client-sdks/typescript/models/imagegenerationrequest, 2026-08, and as
 * recorded.
 */
export const openrouterImages: readonly ImageEndpoint[] = [
  {
    path: '/images',
    prompt: words,
    complaint: (call) => {
      const references = list(call.raw['input_references']).map(
        (one) => object(object(one)['image_url'])['url'],
      );
      const known =
        'model prompt n aspect_ratio resolution background output_format output_compression seed quality input_references provider';
      return usual(call, known) ?? range(call, 'n', 1, 10) ?? shown(references, 16);
    },
    writer: (call) => {
      const { raw } = call;
      const size = sidesOf(text(raw['aspect_ratio']) ?? '1:1');
      const prompt = 5 + list(raw['input_references']).length * 258;
      return wholeWriter(({ usageReported }) => ({
        created: 0,
        data: many(number(raw['n']) ?? 1, (i) => ({
          b64_json: base64Of(call, nth(call, i), size),
        })),
        ...(usageReported && { usage: usageOf(prompt) }),
      }));
    },
  },
];

const usageOf = (prompt: number): Json => ({
  prompt_tokens: prompt,
  completion_tokens: 1_120,
  total_tokens: prompt + 1_120,
  cost: 0.03388125,
  prompt_tokens_details: {
    cached_tokens: 0,
    cache_write_tokens: 0,
    audio_tokens: 0,
    video_tokens: 0,
  },
  completion_tokens_details: { reasoning_tokens: 0, image_tokens: 1_120 },
});

const listed = ['1328*1328', '1664*928', '928*1664', '1472*1140', '1140*1472'];

function dashscopeComplaint(call: ImageCall): Complaint | undefined {
  const { raw, model } = call;
  const [message, ...more] = list(object(raw['input'])['messages']).map(object);
  const content = list(message?.['content']).map(object);
  const bad = (what: string): Complaint => ({ code: 'InvalidParameter', message: what });
  if (message?.['role'] !== 'user' || more.length > 0)
    return bad('messages must be one message of the user');
  if (
    content.filter((part) => typeof part['text'] === 'string' && part['text'] !== '').length !== 1
  )
    return bad('content must have one text');
  const given = content.filter((part) => part['image'] !== undefined).map(({ image }) => image);
  const edits = model.startsWith('qwen-image-edit');
  const reads = edits || /^qwen-image-[2-9]|^wan2\.6-image|^sim-/.test(model);
  if (edits && given.length === 0) return bad('content must have an image');
  if (!reads && given.length > 0) return bad('this model takes no image');
  const parameters = object(raw['parameters']);
  const stranger = Object.keys(parameters).find(
    (name) => !'size n negative_prompt prompt_extend watermark seed'.split(' ').includes(name),
  );
  if (stranger !== undefined) return bad(`unknown parameter ${stranger}`);
  const plain = /^qwen-image(?!-edit|-[2-9])/.test(model);
  const n = number(parameters['n']) ?? 1;
  if (n < 1 || n > (plain ? 1 : model.startsWith('wan') ? 4 : 6))
    return bad('num_images_per_prompt must be 1');
  const { size } = parameters;
  if (
    size !== undefined &&
    (plain ? !listed.includes(String(size)) : !/^\d+\*\d+$/.test(String(size)))
  )
    return bad('size is invalid');
  return shown(given, 4);
}

/** help.aliyun.com/zh/model-studio/qwen-image-api, 2026-08. */
export const dashscopeImages: readonly ImageEndpoint[] = [
  {
    path: '/qwen/api/v1/services/aigc/multimodal-generation/generation',
    prompt: ({ raw }) =>
      text(
        object(list(object(list(object(raw['input'])['messages'])[0])['content']).at(-1))['text'],
      ) ?? '',
    complaint: dashscopeComplaint,
    writer: (call) => {
      const parameters = object(call.raw['parameters']);
      const size = readSize(parameters['size']) ?? { width: 1_328, height: 1_328 };
      const prompt = dashscopeImages[0]?.prompt(call) ?? '';
      const n = number(parameters['n']) ?? 1;
      return wholeWriter(({ id }) => ({
        output: {
          choices: many(n, (i) => ({
            finish_reason: 'stop',
            message: {
              role: 'assistant',
              content: [{ image: addressOf(call, `${prompt} ${i + 1}`, size) }],
            },
          })),
        },
        usage: { image_count: n, ...size },
        request_id: id,
      }));
    },
  },
];
