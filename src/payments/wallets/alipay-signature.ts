import type { KeyObject } from 'node:crypto';
import { rsaSign, rsaVerifies } from './rsa.ts';

export type Parameters = Readonly<Record<string, string>>;

/**
 * What is signed: `a=1&b=2`, by name, raw, without the empty ones
 * (opendocs.alipay.com/common/02kf5q, 2026-11).
 */
function signable(parameters: Parameters, without: ReadonlySet<string>): string {
  return Object.keys(parameters)
    .filter((name) => !without.has(name) && parameters[name] !== '')
    .sort()
    .map((name) => `${name}=${parameters[name]}`)
    .join('&');
}

const ofRequest = new Set(['sign']);
const ofNotice = new Set(['sign', 'sign_type']);

export const signRequest = (parameters: Parameters, key: KeyObject): string =>
  rsaSign(signable(parameters, ofRequest), key);

/** A notification is signed without its `sign_type`; some of Alipay's products keep it. */
export function noticeHolds(parameters: Parameters, key: KeyObject): boolean {
  const signature = parameters['sign'] ?? '';
  if (parameters['sign_type'] !== 'RSA2' || signature === '') return false;
  return (
    rsaVerifies(signable(parameters, ofNotice), signature, key) ||
    rsaVerifies(signable(parameters, ofRequest), signature, key)
  );
}

/**
 * An answer is signed as the very characters that stand behind its member: they are cut out and not
 * written anew. Gives them when they are signed by Alipay, else undefined.
 */
export function signedPart(text: string, member: string, key: KeyObject): string | undefined {
  const begin = new RegExp(`^\\s*\\{\\s*"${member}"\\s*:\\s*`).exec(text)?.[0].length;
  const end = begin === undefined ? undefined : objectEnd(text, begin);
  const signature =
    end === undefined
      ? undefined
      : /^\s*,(?:\s*"alipay_cert_sn"\s*:\s*"[^"]*"\s*,)?\s*"sign"\s*:\s*"([^"]+)"/.exec(
          text.slice(end),
        )?.[1];
  if (begin === undefined || end === undefined || signature === undefined) return undefined;
  const part = text.slice(begin, end);
  return rsaVerifies(part, signature.replaceAll('\\/', '/'), key) ? part : undefined;
}

/** Behind the brace that closes the object which begins at `begin`. */
function objectEnd(text: string, begin: number): number | undefined {
  let depth = 0;
  let quoted = false;
  for (let at = begin; at < text.length; at++) {
    const letter = text[at];
    if (quoted) {
      if (letter === '\\') at++;
      else if (letter === '"') quoted = false;
    } else if (letter === '"') quoted = true;
    else if (letter === '{') depth++;
    else if (letter === '}' && --depth === 0) return at + 1;
  }
  return undefined;
}
