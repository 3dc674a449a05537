import type { ServerResponse } from 'node:http';
import { imageOf } from './png.ts';

const path = '/pictures/';

/** An address below `base` with an image of these words: the address contains all parameters. */
export const imageAddress = (base: string, prompt: string, width: number, height: number): string =>
  `${base}${path}${Buffer.from(JSON.stringify([prompt.slice(0, 200), width, height])).toString('base64url')}.png`;

/** An address without an image. */
export const goneAddress = (base: string): string => `${base}${path}gone.png`;

/** Sends the image of an address that `imageAddress` made; false for any other address. */
export function sendImage(response: ServerResponse, url: string): boolean {
  if (!url.startsWith(path)) return false;
  const facts = factsIn(url.slice(path.length).replace(/\.png$/, ''));
  if (facts === undefined) {
    response
      .writeHead(404, { 'content-type': 'application/xml' })
      .end('<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>');
    return true;
  }
  const [prompt, width, height] = facts;
  const image = imageOf(prompt, width, height);
  response
    .writeHead(200, { 'content-type': 'image/png', 'content-length': image.length })
    .end(image);
  return true;
}

function factsIn(name: string): readonly [string, number, number] | undefined {
  try {
    const facts: unknown = JSON.parse(Buffer.from(name, 'base64url').toString('utf8'));
    if (!Array.isArray(facts)) return undefined;
    const [prompt, width, height]: unknown[] = facts;
    return typeof prompt === 'string' && typeof width === 'number' && typeof height === 'number'
      ? [prompt, width, height]
      : undefined;
  } catch {
    return undefined;
  }
}
