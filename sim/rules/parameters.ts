import type { Complaint, Rule } from '../dialect.ts';
import { isJson, list, object, shown, typeName } from '../json.ts';
import type { ChatRequest } from '../request.ts';

/** The complaint of the first rule that has one. */
export function firstComplaint(
  rules: readonly Rule[],
  request: ChatRequest,
): Complaint | undefined {
  for (const rule of rules) {
    const complaint = rule(request);
    if (complaint !== undefined) return complaint;
  }
  return undefined;
}

export const present =
  (...names: readonly string[]): Rule =>
  ({ raw }) => {
    const param = names.find((name) => raw[name] === undefined || raw[name] === null);
    return param === undefined
      ? undefined
      : {
          param,
          code: 'missing_required_parameter',
          message: `Missing required parameter: '${param}'.`,
        };
  };

/** Allows only these members. */
export const only = (
  known: readonly string[],
  complain: (param: string, raw: unknown) => Complaint,
): Rule => {
  const set = new Set(known);
  return ({ raw }) => {
    const param = Object.keys(raw).find((name) => !set.has(name));
    return param === undefined ? undefined : complain(param, raw[param]);
  };
};

/** Refuses these members, whatever their value; null counts as absent. */
export const none =
  (
    names: readonly string[],
    complain: (param: string) => Complaint,
    when: (request: ChatRequest) => boolean = () => true,
  ): Rule =>
  (request) => {
    const param = names.find(
      (name) => request.raw[name] !== undefined && request.raw[name] !== null,
    );
    return param === undefined || !when(request) ? undefined : complain(param);
  };

export const unsupported = (param: string): Complaint => ({
  param,
  code: 'unsupported_parameter',
  message: `Unsupported parameter: '${param}' is not supported with this model.`,
});

export interface Range {
  readonly min: number;
  readonly max: number;
  readonly whole?: boolean;
  /** The limits themselves are refused. */
  readonly openMin?: boolean;
  readonly openMax?: boolean;
}

/** A number within its range, with OpenAI's text. */
export const range =
  (param: string, { min, max, whole = false, openMin = false, openMax = false }: Range): Rule =>
  ({ raw }) => {
    const value = raw[param];
    if (value === undefined || value === null) return undefined;
    const kind = whole ? 'integer' : 'decimal';
    if (typeof value !== 'number' || (whole && !Number.isInteger(value))) {
      return {
        param,
        code: 'invalid_type',
        message: `Invalid type for '${param}': expected ${whole ? 'an integer' : 'a decimal'}, but got a ${typeName(value)} instead.`,
      };
    }
    const wrong =
      value < min || (openMin && value === min)
        ? 'below minimum'
        : value > max || (openMax && value === max)
          ? 'above maximum'
          : undefined;
    if (wrong === undefined) return undefined;
    const below = wrong.startsWith('below');
    const sign = `${below ? '>' : '<'}${(below ? openMin : openMax) ? '' : '='}`;
    return {
      param,
      code: `${kind}_${below ? 'below_min' : 'above_max'}_value`,
      message: `Invalid '${param}': ${kind} ${wrong} value. Expected a value ${sign} ${below ? min : max}, but got ${value} instead.`,
    };
  };

export const flag =
  (param: string): Rule =>
  ({ raw }) => {
    const value = raw[param];
    if (value === undefined || value === null || typeof value === 'boolean') return undefined;
    return {
      param,
      code: 'invalid_type',
      message: `Invalid type for '${param}': expected a boolean, but got a ${typeName(value)} instead.`,
    };
  };

export const oneOf =
  (param: string, values: readonly string[]): Rule =>
  ({ raw }) => {
    const value = raw[param];
    if (
      value === undefined ||
      value === null ||
      (typeof value === 'string' && values.includes(value))
    )
      return undefined;
    const named = values.map((v) => `'${v}'`).join(', ');
    return {
      param,
      code: 'invalid_value',
      message: `Invalid value: '${shown(value)}'. Supported values are: ${named}.`,
    };
  };

export const stopAtMost =
  (count: number): Rule =>
  ({ raw }) => {
    if (list(raw['stop']).length <= count) return undefined;
    return {
      param: 'stop',
      code: 'array_above_max_length',
      message: `Invalid 'stop': array too long. Expected an array with maximum length ${count}.`,
    };
  };

export const streamOptionsWithStream: Rule = ({ raw, stream }) => {
  if (raw['stream_options'] === undefined || raw['stream_options'] === null || stream)
    return undefined;
  return {
    param: 'stream_options',
    message: "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
  };
};

export const topLogprobsWithLogprobs: Rule = ({ raw }) => {
  if (raw['top_logprobs'] === undefined || raw['top_logprobs'] === null || raw['logprobs'] === true)
    return undefined;
  return {
    param: 'top_logprobs',
    message: "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.",
  };
};

/** JSON mode needs the word in the prompt, because the model might write blanks for ever. */
export const jsonModeNamesJson =
  (message: string): Rule =>
  ({ format, messages }) => {
    if (format.type !== 'json_object' || messages.some((m) => /json/i.test(m.text)))
      return undefined;
    return { param: 'messages', message };
  };

/** `response_format` has one of these types; a schema needs a name. */
export const formats =
  (allowed: readonly string[], complain: (type: string) => Complaint): Rule =>
  ({ raw }) => {
    const format = raw['response_format'];
    if (format === undefined || format === null) return undefined;
    const type = String(object(format)['type']);
    if (!allowed.includes(type)) return complain(type);
    if (type !== 'json_schema') return undefined;
    const schema = object(format)['json_schema'];
    if (!isJson(schema))
      return {
        param: 'response_format.json_schema',
        code: 'missing_required_parameter',
        message: "Missing required parameter: 'response_format.json_schema'.",
      };
    if (typeof schema['name'] === 'string' && /^[\w-]{1,64}$/.test(schema['name']))
      return undefined;
    return {
      param: 'response_format.json_schema.name',
      code: 'missing_required_parameter',
      message: "Missing required parameter: 'response_format.json_schema.name'.",
    };
  };
