import { decodeImage } from '../image.ts';
import { type Json, object, text } from '../json.ts';
import { at, type Complaints, either, members, textual } from './complaints.ts';

const imageTypes = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];
const imageBytesMax = 5 * 1024 * 1024;
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Errors in the bytes or the address of an image or document. */
export function* sourceComplaints(
  block: Json,
  kind: 'image' | 'document',
  place: string,
): Complaints {
  const source = object(block['source']);
  const type = String(source['type']);
  const here = at(place, 'source', type);
  const known =
    kind === 'image' ? ['base64', 'url', 'file'] : ['base64', 'content', 'file', 'text', 'url'];
  if (source['type'] === undefined) yield `${place}.source.type: Field required`;
  if (!known.includes(type))
    yield `${place}.source: Input tag '${type}' found using 'type' does not match any of the expected tags: ${either(known)}`;
  if (type === 'url') {
    yield* members(source, here, 'type url', '');
    if (!String(source['url']).startsWith('https://'))
      yield `${here}.url: Only HTTPS URLs are supported.`;
  } else if (type === 'file') yield* members(source, here, 'type file_id', '');
  else if (type === 'content') yield* members(source, here, 'type content', '');
  else {
    yield* members(source, here, 'type media_type data', '');
    yield* textual(source['data'], `${here}.data`);
    if (type === 'base64') yield* bytes(source, kind, here);
    else if (source['media_type'] !== 'text/plain')
      yield `${here}.media_type: Input should be 'text/plain'`;
  }
}

function* bytes(source: Json, kind: string, place: string): Complaints {
  const [media, data] = [text(source['media_type']) ?? '', text(source['data']) ?? ''];
  const allowed = kind === 'image' ? imageTypes : ['application/pdf'];
  if (!allowed.includes(media)) yield `${place}.media_type: Input should be ${either(allowed)}`;
  if (!base64.test(data)) yield `${place}.data: Invalid base64 data`;
  if (kind === 'document') {
    if (!Buffer.from(data, 'base64').toString('latin1').startsWith('%PDF-'))
      yield `${place}.data: The PDF specified was not valid.`;
    return;
  }
  const size = Math.floor((data.length * 3) / 4);
  if (size > imageBytesMax)
    yield `${place}: image exceeds 5 MB maximum: ${size} bytes > ${imageBytesMax} bytes`;
  const image = decodeImage(`data:${media};base64,${data}`);
  if (image === undefined) return yield 'Could not process image';
  const real = `image/${image.format.toLowerCase()}`;
  if (real !== media)
    yield `${place}.data: The image was specified using the ${media} media type, but the image appears to be a ${real} image`;
}
