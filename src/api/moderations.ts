import type { Principal } from '../accounts/principal.ts';
import { refuse } from '../base/refusal.ts';
import { type ClientRequest, unwritten } from '../gateway/request.ts';
import { type Body, isObject, refuseType, requiredString } from './check.ts';
import { wholeFormat } from './whole-format.ts';

/** What the convention asks when the client names none. */
const modelUsual = 'omni-moderation-latest';
export const inputsMax = 2_048;

export const moderationsFormat = wholeFormat();

/**
 * POST /v1/moderations: the request as the pipeline takes it. Throws the Refusal that names what is
 * wrong.
 */
export function parseModeration(
  id: string,
  principal: Principal,
  body: Body,
  bytes: Buffer,
): ClientRequest {
  const model =
    body['model'] === undefined || body['model'] === null
      ? modelUsual
      : requiredString(body, 'model');
  const { texts, images, imageBytes } = checkInput(body['input']);
  return {
    id,
    principal,
    capability: 'moderations',
    model,
    body,
    bytes,
    stream: false,
    ...unwritten,
    includeUsage: false,
    media: images.length === 0 ? unwritten.media : new Map([['image', images[0] ?? 'input']]),
    mediaCount: images.length,
    mediaBytes: imageBytes,
    text: () => texts.join(' '),
    answerId: `modr-${id.slice(4)}`,
  };
}

interface Input {
  readonly texts: string[];
  /** The parameters where images stand. */
  readonly images: string[];
  imageBytes: number;
}

/** A text, texts, or parts of one thing to be judged: texts and images. */
function checkInput(value: unknown): Input {
  const input: Input = { texts: [], images: [], imageBytes: 0 };
  if (value === undefined || value === null) refuse('missing_parameter', { param: 'input' });
  if (typeof value === 'string') return { ...input, texts: [value] };
  if (!Array.isArray(value)) refuseType('input', 'a string or an array', value);
  if (value.length === 0) refuse('invalid_value', { param: 'input', why: 'it must not be empty.' });
  if (value.length > inputsMax)
    refuse('out_of_range', {
      param: 'input',
      expected: `of at most ${inputsMax} items`,
      got: value.length,
    });
  const parts = isObject(value[0]);
  for (const [i, one] of value.entries()) {
    if (parts) checkPart(`input[${i}]`, one, input);
    else if (typeof one === 'string') input.texts.push(one);
    else refuseType(`input[${i}]`, 'a string', one);
  }
  return input;
}

function checkPart(param: string, part: unknown, input: Input): void {
  if (!isObject(part)) refuseType(param, 'an object', part);
  if (part['type'] === 'text') {
    if (typeof part['text'] !== 'string') refuseType(`${param}.text`, 'a string', part['text']);
    input.texts.push(part['text']);
    return;
  }
  if (part['type'] !== 'image_url')
    refuse('invalid_value', {
      param: `${param}.type`,
      why: `'${String(part['type'])}' is not one of text, image_url.`,
    });
  const image = part['image_url'];
  const url = isObject(image) ? image['url'] : undefined;
  if (typeof url !== 'string') refuseType(`${param}.image_url.url`, 'a string', url);
  input.images.push(param);
  input.imageBytes += url.length;
}
