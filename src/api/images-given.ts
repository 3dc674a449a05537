import { refuse } from '../base/refusal.ts';
import type { FormFile } from '../http/multipart.ts';
import { type Content, type Downloads, isFailed } from '../media/downloads.ts';
import { readPicture } from '../media/picture.ts';
import type { GivenImage } from '../providers/image-wish.ts';
import { imagesMax } from './images-body.ts';
import { type Body, isObject, refuseType } from './check.ts';

const noContents: ReadonlyMap<string, Content> = new Map();

/** The pictures of one request, and where its mask is. */
export interface Given {
  readonly images: readonly GivenImage[];
  readonly mask: GivenImage | undefined;
}

/** A picture as the client sent it: its bytes, or the address that has them. */
interface Sent {
  readonly param: string;
  readonly content: Buffer | { readonly url: string };
}

/**
 * What the client sent, by whichever way, looked at. Throws the Refusal that names what is wrong
 * with which. `left` ends downloads early.
 */
export async function givenImages(
  body: Body,
  files: readonly FormFile[],
  downloads: Downloads,
  left: AbortSignal,
): Promise<Given> {
  const sent = [...(await ofForm(files)), ...ofJson(body)];
  const wanted = sent.flatMap(({ content }) =>
    Buffer.isBuffer(content) ? [] : [{ url: content.url, kind: 'image' as const }],
  );
  const had = wanted.length === 0 ? noContents : await downloads.all(wanted, left);
  if (isFailed(had)) {
    const at = sent.find(({ content }) => !Buffer.isBuffer(content) && content.url === had.url);
    refuse('invalid_value', { param: at?.param ?? 'image', why: had.why });
  }
  const checked = sent.map(({ param, content }) => {
    const bytes = Buffer.isBuffer(content)
      ? content
      : Buffer.from(had.get(content.url)?.base64 ?? '', 'base64');
    return { param, ...looked(param, bytes) };
  });
  const images = checked.filter(({ param }) => !isMask(param));
  const [first] = images;
  if (first === undefined) refuse('missing_parameter', { param: 'image' });
  if (images.length > imagesMax)
    refuse('out_of_range', {
      param: 'image',
      expected: `of at most ${imagesMax} pictures`,
      got: images.length,
    });
  return {
    images: images.map(plain),
    mask: maskFor(
      first,
      checked.find(({ param }) => isMask(param)),
    ),
  };
}

type Checked = GivenImage & { readonly param: string; readonly alpha: boolean };

const plain = ({ type, width, height, bytes }: GivenImage): GivenImage => ({
  type,
  width,
  height,
  bytes,
});
const isMask = (param: string): boolean => param.startsWith('mask');

function looked(param: string, bytes: Buffer): GivenImage & { readonly alpha: boolean } {
  const facts = readPicture(bytes);
  if (typeof facts === 'string') refuse('invalid_value', { param, why: facts });
  return { ...facts, bytes };
}

function maskFor(image: GivenImage, mask: Checked | undefined): GivenImage | undefined {
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
async function ofForm(files: readonly FormFile[]): Promise<readonly Sent[]> {
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
function ofJson(body: Body): readonly Sent[] {
  const name = body['images'] === undefined || body['images'] === null ? 'image' : 'images';
  const list = body[name];
  const listed = Array.isArray(list)
    ? list.map((one: unknown, i) => reference(one, `${name}[${i}]`))
    : [reference(list, name)];
  return [...listed, reference(body['mask'], 'mask')].flatMap((one) => one ?? []);
}

function reference(value: unknown, param: string): Sent | undefined {
  if (value === undefined || value === null) return undefined;
  const told: unknown = isObject(value) ? (value['image_url'] ?? value['url']) : value;
  const address: unknown = isObject(told) ? told['url'] : told;
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
  if (!/^https?:\/\//i.test(address))
    refuse('invalid_value', { param, why: 'it is neither an http(s): address nor a data: URL.' });
  return { param, content: { url: address } };
}
