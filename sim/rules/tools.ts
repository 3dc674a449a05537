import type { Complaint, Rule } from '../dialect.ts';
import { isJson, type Json, list, object, shown } from '../json.ts';

/** Tools have a type, a name, and an object schema as parameters. */
export const wellFormedTools: Rule = ({ raw, tools }) => {
  for (const [index, { name }] of tools.entries()) {
    const tool = object(list(raw['tools'])[index]);
    if (tool['type'] === 'custom') continue;
    const at = `tools[${index}]`;
    if (tool['type'] === undefined) return missing(`${at}.type`);
    if (tool['type'] !== 'function')
      return {
        param: `${at}.type`,
        code: 'invalid_value',
        message: `Invalid value: '${shown(tool['type'])}'. Supported values are: 'function' and 'custom'.`,
      };
    if (name === '') return missing(`${at}.function.name`);
    if (!/^[\w-]{1,64}$/.test(name)) {
      return {
        param: `${at}.function.name`,
        code: 'invalid_value',
        message: `Invalid '${at}.function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
      };
    }
    const complaint = schemaComplaint(object(tool['function']), name, `${at}.function.parameters`);
    if (complaint !== undefined) return complaint;
  }
  return undefined;
};

function schemaComplaint(tool: Json, name: string, param: string): Complaint | undefined {
  const schema = tool['parameters'];
  if (schema === undefined || schema === null) return undefined;
  const invalid = (why: string): Complaint => ({
    param,
    code: 'invalid_function_parameters',
    message: `Invalid schema for function '${name}': ${why}`,
  });
  if (!isJson(schema) || (schema['type'] !== undefined && schema['type'] !== 'object'))
    return invalid('schema must be a JSON Schema of \'type: "object"\'.');
  const why = tool['strict'] === true ? notStrict(schema, []) : undefined;
  return why === undefined ? undefined : invalid(why);
}

function missing(param: string): Complaint {
  return {
    param,
    code: 'missing_required_parameter',
    message: `Missing required parameter: '${param}'.`,
  };
}

/** A strict `response_format` closes every object and requires every member. */
export const strictFormat: Rule = ({ raw }) => {
  const format = object(object(raw['response_format'])['json_schema']);
  if (format['strict'] !== true) return undefined;
  const why = notStrict(object(format['schema']), []);
  if (why === undefined) return undefined;
  return {
    param: 'response_format',
    message: `Invalid schema for response_format '${String(format['name'])}': ${why}`,
  };
};

/**
 * The reason why a schema is not strict: the path to the first open object, or to one with an
 * optional member.
 */
function notStrict(schema: Json, path: readonly string[]): string | undefined {
  const context = `In context=(${path.map((step) => `'${step}'`).join(', ')})`;
  const properties = object(schema['properties']);
  if (schema['type'] === 'object') {
    if (schema['additionalProperties'] !== false)
      return `${context}, 'additionalProperties' is required to be supplied and to be false.`;
    const required = list(schema['required']);
    const optional = Object.keys(properties).find((name) => !required.includes(name));
    if (optional !== undefined) {
      return `${context}, 'required' is required to be supplied and to be an array including every key in properties. Missing '${optional}'.`;
    }
  }
  for (const [name, member] of Object.entries(properties)) {
    const why = notStrict(object(member), [...path, 'properties', name]);
    if (why !== undefined) return why;
  }
  return 'items' in schema ? notStrict(object(schema['items']), [...path, 'items']) : undefined;
}

export const choiceWithTools: Rule = ({ raw, tools }) => {
  if (tools.length > 0) return undefined;
  const param = ['tool_choice', 'parallel_tool_calls'].find(
    (name) => raw[name] !== undefined && raw[name] !== null && raw[name] !== 'none',
  );
  return param === undefined
    ? undefined
    : {
        param,
        message: `Invalid value for '${param}': '${param}' is only allowed when 'tools' are specified.`,
      };
};

/** The tool of `tool_choice` is one of those sent. */
export const choiceIsKnown: Rule = ({ toolChoice, tools }) => {
  const { named } = toolChoice;
  if (named === undefined || tools.some(({ name }) => name === named)) return undefined;
  return {
    param: 'tool_choice',
    message: `Tool choice '${named}' not found in 'tools' parameter.`,
  };
};
