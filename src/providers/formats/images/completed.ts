import { jsonText, type JsonObject } from '../../../base/json.ts';
import type { Quantities } from '../../../base/quantities.ts';
import { type ImageRequest, imageSizeText } from '../../media-request.ts';
import { gptQuality } from './openai.ts';
import { imageUsageOf } from './response.ts';

/** What a whole answer has beside its images, and what was asked of the vendor. */
interface Made {
  readonly kind: 'image_generation' | 'image_edit';
  /** The answer's members: `created`, `usage`, and the settings that the vendor told. */
  readonly told: JsonObject;
  readonly request: Pick<ImageRequest, 'size' | 'quality'>;
  readonly body: JsonObject;
  readonly quantities: Quantities | undefined;
  /** The client's members that the vendor did not get. */
  readonly dropped?: readonly string[] | undefined;
}

/**
 * The settings of an event and their values (developers.openai.com/api/reference/images, 2026-11).
 * Strict clients refuse an event that lacks one, and one that has another value.
 */
const settings = {
  size: ['1024x1024', '1024x1536', '1536x1024'],
  quality: ['low', 'medium', 'high'],
  background: ['transparent', 'opaque'],
  output_format: ['png', 'webp', 'jpeg'],
} as const;

/**
 * A whole answer as `completed` events, one for each image. A setting is what the vendor told, else
 * what it was asked for, else `auto`: the model decided. The last event has the usage of all
 * images, so that the sum over the events is right. Tokens that nobody counted are 0.
 */
export function completedEvents(images: readonly JsonObject[], made: Made): string {
  const { told } = made;
  const type = `${made.kind}.completed`;
  const usage = told['usage'] ?? imageUsageOf(made.quantities ?? {});
  const none = imageUsageOf({});
  return images
    .map((image, i) => {
      const event = {
        type,
        ...image,
        created_at: told['created'],
        ...settingsOf(made),
        output_format: formatOf(image, made),
        usage: i === images.length - 1 ? usage : none,
      };
      return `event: ${type}\ndata: ${jsonText(event)}\n\n`;
    })
    .join('');
}

function settingsOf({ told, request: { size, quality }, body, dropped }: Made): JsonObject {
  const asked: JsonObject = {
    size: size === undefined ? undefined : imageSizeText(size),
    quality: quality === undefined ? undefined : (gptQuality[quality] ?? quality),
    background: body['background'],
  };
  const of = (name: 'size' | 'quality' | 'background') =>
    known(name, told[name], dropped?.includes(name) ? undefined : asked[name]) ?? 'auto';
  return { size: of('size'), quality: of('quality'), background: of('background') };
}

/** How the bytes of each format begin in base64. */
const beginnings = { png: 'iVBORw0KGgo', webp: 'UklGR', jpeg: '/9j/' } as const;

function formatOf({ b64_json: bytes }: JsonObject, { told, body }: Made): string {
  const seen = settings.output_format.find(
    (format) => typeof bytes === 'string' && bytes.startsWith(beginnings[format]),
  );
  return seen ?? known('output_format', told['output_format'], body['output_format']) ?? 'png';
}

const known = (name: keyof typeof settings, ...values: readonly unknown[]): string | undefined =>
  values.find((value): value is string => settings[name].some((each) => each === value));
