import type { Complaint } from '../dialect.ts';
import type { Json } from '../json.ts';
import { imageAddress, goneAddress } from '../media/address.ts';
import type { Form } from '../media/form.ts';
import { imageOf } from '../media/png.ts';
import type { Writer } from '../play.ts';

/** An image request, as a form or JSON, with its images. */
export interface ImageCall {
  readonly model: string;
  readonly raw: Json;
  /** Undefined for a JSON request. */
  readonly form: Form | undefined;
  /** The simulator's own address. */
  readonly base: string;
  /** The scenario's fault: the image cannot be had. */
  readonly lost: 'gone' | 'broken' | undefined;
}

/** One image endpoint. */
export interface ImageEndpoint {
  /** The path below the vendor's base URL. */
  readonly path: string | RegExp;
  readonly complaint: (call: ImageCall) => Complaint | undefined;
  readonly prompt: (call: ImageCall) => string;
  readonly writer: (call: ImageCall) => Writer;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** `1024x768`, `1024*768`. */
export function readSize(value: unknown): Size | undefined {
  const [, width, height] = /^(\d{2,5})[x*](\d{2,5})$/.exec(String(value)) ?? [];
  return width === undefined || height === undefined
    ? undefined
    : { width: Number(width), height: Number(height) };
}

/** Sides of this ratio (`16:9`) with about that many pixels. */
export function sidesOf(ratio: string, pixels = 1_048_576): Size {
  const [width = 1, height = 1] = ratio.split(':').map(Number);
  const side = (share: number): number =>
    Math.max(16, Math.round(Math.sqrt(pixels * share) / 16) * 16);
  return { width: side(width / height), height: side(height / width) };
}

/** The image as base64; with `lost`, bytes that are no image. */
export const base64Of = (
  { lost }: Pick<ImageCall, 'lost'>,
  prompt: string,
  { width, height }: Size,
  transparent = false,
): string =>
  lost === undefined
    ? imageOf(prompt, width, height, transparent).toString('base64')
    : Buffer.from('<html>lost</html>').toString('base64');

/** The address of the image; with `lost`, one that gives 404. */
export const addressOf = (
  { base, lost }: ImageCall,
  prompt: string,
  { width, height }: Size,
): string => (lost === undefined ? imageAddress(base, prompt, width, height) : goneAddress(base));
