import { refuse } from '../../base/refusal.ts';
import { geminiSchema } from './gemini-schema.ts';
import { isObject, type JsonObject, listOf, objectOf, textOf } from './json.ts';

function declaration(tool: unknown, i: number): object {
  const type = textOf(objectOf(tool)?.['type']) ?? 'function';
  if (type !== 'function')
    refuse('invalid_value', {
      param: `tools[${i}].type`,
      why: `this model takes tools of type 'function', not '${type}'.`,
    });
  const fn = objectOf(objectOf(tool)?.['function']) ?? objectOf(tool) ?? {};
  const parameters = objectOf(fn['parameters']);
  return {
    name: fn['name'],
    ...(fn['description'] == null ? {} : { description: fn['description'] }),
    ...(parameters === undefined ? {} : { parametersJsonSchema: geminiSchema(parameters) }),
  };
}

const nameOf = (tool: unknown): string | undefined =>
  textOf(objectOf(objectOf(tool)?.['function'])?.['name']) ?? textOf(objectOf(tool)?.['name']);

function mode(choice: unknown): object | undefined {
  if (choice === 'none') return { mode: 'NONE' };
  if (choice === 'auto') return { mode: 'AUTO' };
  if (choice === 'required' || choice === 'any') return { mode: 'ANY' };
  if (!isObject(choice)) return undefined;
  const allowed =
    choice['type'] === 'allowed_tools' ? (objectOf(choice['allowed_tools']) ?? choice) : undefined;
  if (allowed !== undefined) {
    const allowedFunctionNames = listOf(allowed['tools'])
      .map(nameOf)
      .filter((name) => name !== undefined);
    // Names are read only with ANY and VALIDATED, and VALIDATED leaves the choice to the model (ai.google.dev/gemini-api/docs/function-calling, 2026-08).
    return { mode: allowed['mode'] === 'required' ? 'ANY' : 'VALIDATED', allowedFunctionNames };
  }
  const name = nameOf(choice);
  return name === undefined ? undefined : { mode: 'ANY', allowedFunctionNames: [name] };
}

/** `tools` and `toolConfig`; nothing where the client gave no tools. */
export function toolsOf(body: JsonObject): {
  readonly tools?: unknown;
  readonly toolConfig?: unknown;
} {
  if (listOf(body['functions']).length > 0)
    refuse('invalid_value', { param: 'functions', why: "this model takes 'tools'." });
  const tools = listOf(body['tools']);
  if (tools.length === 0) return {};
  const functionCallingConfig = mode(body['tool_choice']);
  return {
    tools: [{ functionDeclarations: tools.map(declaration) }],
    ...(functionCallingConfig === undefined ? {} : { toolConfig: { functionCallingConfig } }),
  };
}
