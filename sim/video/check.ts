import type { Json } from '../json.ts';

/** Returns the error of a value; undefined for a valid one. */
export type Check = (value: unknown) => string | undefined;

/** By name; a name that ends with `?` is optional. */
export type Shape = Readonly<Record<string, Check>>;

/** The first error in an object's members; an unknown member is an error. */
export function wrongWith(raw: Json, shape: Shape): string | undefined {
  for (const [written, check] of Object.entries(shape)) {
    const name = written.replace(/\?$/, '');
    const value = raw[name];
    if (value === undefined && name !== written) continue;
    const wrong = value === undefined ? 'is required' : check(value);
    if (wrong !== undefined) return `${name} ${wrong}`;
  }
  const stranger = Object.keys(raw).find(
    (name) => shape[name] === undefined && shape[`${name}?`] === undefined,
  );
  return stranger === undefined ? undefined : `${stranger} is not a known parameter`;
}

export const textValue =
  (most: number, least = 1): Check =>
  (value) =>
    typeof value === 'string' && value.length >= least && value.length <= most
      ? undefined
      : `must be a text of ${least} to ${most} characters`;

export const oneOf =
  (...values: readonly (string | number)[]): Check =>
  (value) =>
    values.some((one) => one === value)
      ? undefined
      : `must be one of ${values.map((one) => JSON.stringify(one)).join(', ')}`;

export const whole =
  (least: number, most: number): Check =>
  (value) =>
    Number.isInteger(value) && Number(value) >= least && Number(value) <= most
      ? undefined
      : `must be an integer from ${least} to ${most}`;

export const flag: Check = (value) =>
  typeof value === 'boolean' ? undefined : 'must be true or false';

const isBase64 = (text: string): boolean =>
  text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);

/** An address, or a data URL. */
export const imageValue: Check = (value) => {
  if (typeof value !== 'string') return 'must be a text';
  if (/^https?:\/\/[^\s/]+/.test(value)) return undefined;
  const [, base64] = /^data:image\/(?:png|jpeg|jpg|webp|gif);base64,(.*)$/s.exec(value) ?? [];
  return base64 !== undefined && isBase64(base64)
    ? undefined
    : 'must be an address or the data URL of an image';
};

/** An address, or base64 without a prefix. */
export const bareImage: Check = (value) =>
  typeof value === 'string' && (/^https?:\/\//.test(value) || isBase64(value))
    ? undefined
    : 'must be an address or base64';

export const base64: Check = (value) =>
  typeof value === 'string' && isBase64(value) ? undefined : 'must be base64';

export const object =
  (shape: Shape): Check =>
  (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return 'must be an object';
    const wrong = wrongWith({ ...value }, shape);
    return wrong && `is wrong: ${wrong}`;
  };

export const listOf =
  (check: Check, most: number, least = 1): Check =>
  (value) => {
    if (!Array.isArray(value) || value.length < least || value.length > most)
      return `must be a list of ${least} to ${most}`;
    for (const one of value) {
      const wrong = check(one);
      if (wrong !== undefined) return `has an element that ${wrong}`;
    }
    return undefined;
  };

export const either =
  (...checks: readonly Check[]): Check =>
  (value) => {
    const wrong = checks.map((check) => check(value));
    return wrong.includes(undefined) ? undefined : wrong.join(' or ');
  };
