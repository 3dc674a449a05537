import type { MediaAddress } from '../gateway/accept.ts';

/** What a conversation consists of beside text. */
export interface PromptMedia {
  /** Modality → the parameter where it first occurs. */
  readonly kinds: Map<string, string>;
  count: number;
  /** Bytes of the body that are media, not text. */
  bytes: number;
  /** What was given by address. */
  addresses: MediaAddress[] | undefined;
}

export const noMedia = (): PromptMedia => ({
  kinds: new Map(),
  count: 0,
  bytes: 0,
  addresses: undefined,
});

export function addAddress(media: PromptMedia, address: MediaAddress): void {
  media.addresses ??= [];
  media.addresses.push(address);
}

const isAddress = (value: string): boolean => /^https?:\/\//i.test(value);

/** Text that is an address, or media: an address may be replaced by a data URL where it stands. */
export function addMediaText(
  media: PromptMedia,
  value: unknown,
  kind: MediaAddress['kind'],
  name: unknown,
  param: string,
): void {
  if (typeof value !== 'string') return;
  media.bytes += value.length;
  if (!isAddress(value)) return;
  addAddress(media, {
    url: value,
    kind,
    name: typeof name === 'string' ? name : undefined,
    param,
    place: param,
    written: dataUrl,
  });
}

const dataUrl = (type: string, base64: string): string => `data:${type};base64,${base64}`;
