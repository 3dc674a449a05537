import type { Legacy } from '../completions-vendors.ts';
import type { Complaint } from '../dialect.ts';
import { type Json, list, number, typeName } from '../json.ts';
import { existsNowhere } from '../scenario.ts';

/**
 * The errors of a vendor's `/completions`
 * (developers.openai.com/api/docs/api-reference/completions/create, 2026-08; recorded).
 */
export function completionComplaint(
  raw: Json,
  model: string,
  legacy: Legacy,
): Complaint | undefined {
  const stranger = Object.keys(raw).find((name) => legacy.only?.includes(name) === false);
  if (stranger !== undefined)
    return { message: `Unrecognized request argument supplied: ${stranger}` };
  const unwanted = legacy.none?.find((name) => raw[name] !== undefined && raw[name] !== null);
  if (unwanted !== undefined)
    return { param: unwanted, message: `Unsupported parameter: '${unwanted}'` };
  return (
    known(model, legacy) ??
    prompt(raw, legacy) ??
    numbers(raw, legacy) ??
    answers(raw) ??
    stop(raw) ??
    options(raw)
  );
}

function known(model: string, { models }: Legacy): Complaint | undefined {
  if (model === '') return { param: 'model', message: 'you must provide a model parameter' };
  if (existsNowhere(model))
    return { message: `The model \`${model}\` does not exist`, kind: 'unknown_model' };
  if (models?.test(model) !== false) return undefined;
  return {
    status: 404,
    param: 'model',
    message:
      'This is a chat model and not supported in the v1/completions endpoint. Did you mean to use v1/chat/completions?',
  };
}

function prompt(raw: Json, { onePrompt }: Legacy): Complaint | undefined {
  const { prompt: value } = raw;
  if (typeof value === 'string') return undefined;
  const isToken = (one: unknown): boolean => Number.isInteger(one);
  const all = list(value);
  const fits =
    onePrompt !== true &&
    all.length > 0 &&
    (all.every((one) => typeof one === 'string') ||
      all.every(isToken) ||
      all.every((one) => list(one).length > 0 && list(one).every(isToken)));
  if (fits) return undefined;
  const expected =
    onePrompt === true
      ? 'a string'
      : 'a string, array of strings, array of tokens, or array of token arrays';
  return {
    param: 'prompt',
    code: 'invalid_type',
    message: `Invalid type for 'prompt': expected ${expected}, but got a ${typeName(value)} instead.`,
  };
}

function numbers(raw: Json, { logprobsMax = 20 }: Legacy): Complaint | undefined {
  return (
    between(raw, 'max_tokens', 0, Infinity, true) ??
    between(raw, 'n', 1, 128, true) ??
    between(raw, 'best_of', 1, 20, true) ??
    between(raw, 'logprobs', 0, logprobsMax, true) ??
    between(raw, 'temperature', 0, 2) ??
    between(raw, 'top_p', 0, 1) ??
    between(raw, 'presence_penalty', -2, 2) ??
    between(raw, 'frequency_penalty', -2, 2)
  );
}

function between(
  raw: Json,
  param: string,
  least: number,
  most: number,
  whole = false,
): Complaint | undefined {
  const value = raw[param];
  if (value === undefined || value === null) return undefined;
  const kind = whole ? 'integer' : 'decimal';
  if (typeof value !== 'number' || (whole && !Number.isInteger(value)))
    return {
      param,
      code: 'invalid_type',
      message: `Invalid type for '${param}': expected ${kind}, but got a ${typeName(value)} instead.`,
    };
  if (value >= least && value <= most) return undefined;
  const [side, sign, bound] =
    value < least ? ['below minimum', '>=', least] : ['above maximum', '<=', most];
  const code = `${kind}_${side.replace('minimum', 'min').replace('maximum', 'max').replace(' ', '_')}_value`;
  return {
    param,
    code,
    message: `Invalid '${param}': ${kind} ${side} value. Expected a value ${sign} ${bound}, but got ${value} instead.`,
  };
}

function answers(raw: Json): Complaint | undefined {
  const n = number(raw['n']) ?? 1;
  const bestOf = number(raw['best_of']);
  if (bestOf === undefined || (bestOf >= n && (raw['stream'] !== true || bestOf === n)))
    return undefined;
  return {
    param: 'best_of',
    message:
      bestOf < n ? 'You must have best_of >= n' : 'best_of > n is not compatible with streaming.',
  };
}

function stop(raw: Json): Complaint | undefined {
  const value = raw['stop'];
  if (value === undefined || value === null || typeof value === 'string') return undefined;
  const all = list(value);
  if (Array.isArray(value) && all.length <= 4 && all.every((one) => typeof one === 'string'))
    return undefined;
  return {
    param: 'stop',
    code: 'invalid_type',
    message: `Invalid type for 'stop': expected at most four strings.`,
  };
}

function options(raw: Json): Complaint | undefined {
  const value = raw['stream_options'];
  if (value === undefined || value === null || raw['stream'] === true) return undefined;
  return {
    param: 'stream_options',
    message: "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
  };
}
