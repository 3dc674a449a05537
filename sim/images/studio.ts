import type { Complaint } from '../dialect.ts';
import type { Json } from '../json.ts';
import { pictureAddress, goneAddress } from '../media/address.ts';
import type { Form } from '../media/form.ts';
import { pictureOf } from '../media/png.ts';
import type { Pen } from '../play.ts';

/**
 * What somebody wants painted: what was said of it, in a form or in JSON, and the pictures that
 * came along.
 */
export interface Order {
  readonly model: string;
  readonly raw: Json;
  /** Undefined: JSON was sent. */
  readonly form: Form | undefined;
  /** The simulator's own address. */
  readonly base: string;
  /** The picture is lost on the way. */
  readonly lost: 'gone' | 'broken' | undefined;
}

/** One endpoint where pictures are made. */
export interface Studio {
  /** Below the vendor's base URL. */
  readonly path: string | RegExp;
  readonly complaint: (order: Order) => Complaint | undefined;
  readonly words: (order: Order) => string;
  readonly pen: (order: Order) => Pen;
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

/** Sides of this ratio (`16:9`) with about so many pixels. */
export function sidesOf(ratio: string, pixels = 1_048_576): Size {
  const [width = 1, height = 1] = ratio.split(':').map(Number);
  const side = (share: number): number =>
    Math.max(16, Math.round(Math.sqrt(pixels * share) / 16) * 16);
  return { width: side(width / height), height: side(height / width) };
}

/** The picture as bytes. One that is lost is no picture any more. */
export const base64Of = (
  { lost }: Pick<Order, 'lost'>,
  words: string,
  { width, height }: Size,
  transparent = false,
): string =>
  lost === undefined
    ? pictureOf(words, width, height, transparent).toString('base64')
    : Buffer.from('<html>lost</html>').toString('base64');

/** The picture by its address. */
export const addressOf = ({ base, lost }: Order, words: string, { width, height }: Size): string =>
  lost === undefined ? pictureAddress(base, words, width, height) : goneAddress(base);
