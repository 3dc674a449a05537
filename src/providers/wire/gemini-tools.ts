import type { Call } from '../adapter.ts';
import { refuseMember } from '../takes/rules.ts';
import { geminiSchema } from './gemini-schema.ts';
import { isObject, listOf, objectOf, textOf } from './json.ts';

/**
 * A function. Searches and other tools that the vendor runs itself (`googleSearch`,
 * `codeExecution`, …) have prices of their own, and are not sold.
 */
function declaration(tool: unknown, i: number, model: string): object {
  const type = textOf(objectOf(tool)?.['type']) ?? 'function';
  const fn = objectOf(objectOf(tool)?.['function']) ?? objectOf(tool) ?? {};
  if (type !== 'function')
    refuseMember(`tools[${i}].type`, model, `it takes tools of type 'function', not '${type}'.`);
  if (typeof fn['name'] !== 'string') {
    const kind = isObject(tool) ? Object.keys(tool).find((name) => name !== 'type') : undefined;
    refuseMember(
      kind === undefined ? `tools[${i}]` : `tools[${i}].${kind}`,
      model,
      "it takes tools of type 'function' alone, and each has a name.",
    );
  }
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
    // Names are read only with ANY and VALIDATED, and VALIDATED leaves the choice to the model
    // (ai.google.dev/gemini-api/docs/function-calling, 2026-08).
    return { mode: allowed['mode'] === 'required' ? 'ANY' : 'VALIDATED', allowedFunctionNames };
  }
  const name = nameOf(choice);
  return name === undefined ? undefined : { mode: 'ANY', allowedFunctionNames: [name] };
}

/** `tools` and `toolConfig`; nothing where the client gave no tools. */
export function toolsOf({ body, publicModel }: Pick<Call, 'body' | 'publicModel'>): {
  readonly tools?: unknown;
  readonly toolConfig?: unknown;
} {
  if (listOf(body['functions']).length > 0)
    refuseMember('functions', publicModel, "it takes functions as 'tools'.");
  const tools = listOf(body['tools']);
  if (tools.length === 0) return {};
  const functionCallingConfig = mode(body['tool_choice']);
  return {
    tools: [{ functionDeclarations: tools.map((tool, i) => declaration(tool, i, publicModel)) }],
    ...(functionCallingConfig === undefined ? {} : { toolConfig: { functionCallingConfig } }),
  };
}
