import type { ServerResponse } from 'node:http';
import { pictureOf } from './png.ts';

const path = '/pictures/';

/** An address below `base` with an image of these words: the address contains all parameters. */
export const pictureAddress = (
  base: string,
  words: string,
  width: number,
  height: number,
): string =>
  `${base}${path}${Buffer.from(JSON.stringify([words.slice(0, 200), width, height])).toString('base64url')}.png`;

/** An address without an image. */
export const goneAddress = (base: string): string => `${base}${path}gone.png`;

/** Sends the image of an address that `pictureAddress` made; false for any other address. */
export function sendPicture(response: ServerResponse, url: string): boolean {
  if (!url.startsWith(path)) return false;
  const told = toldBy(url.slice(path.length).replace(/\.png$/, ''));
  if (told === undefined) {
    response
      .writeHead(404, { 'content-type': 'application/xml' })
      .end('<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>');
    return true;
  }
  const [words, width, height] = told;
  const picture = pictureOf(words, width, height);
  response
    .writeHead(200, { 'content-type': 'image/png', 'content-length': picture.length })
    .end(picture);
  return true;
}

function toldBy(name: string): readonly [string, number, number] | undefined {
  try {
    const told: unknown = JSON.parse(Buffer.from(name, 'base64url').toString('utf8'));
    if (!Array.isArray(told)) return undefined;
    const [words, width, height]: unknown[] = told;
    return typeof words === 'string' && typeof width === 'number' && typeof height === 'number'
      ? [words, width, height]
      : undefined;
  } catch {
    return undefined;
  }
}
