import { refuse } from '../../base/refusal.ts';
import { isObject, type JsonObject, listOf, objectOf, textOf } from '../wire/json.ts';

/** A custom tool takes one text; for chat it is a function with one of this name. */
export const customInput = 'input';

/** A tool as the request has it. */
export interface Tool {
  readonly name: string;
  /** Of the tools that it stands among (Codex CLI 0.169 sends its own and those of MCP so, 2026-11). */
  readonly namespace: string | undefined;
  readonly custom: boolean;
}

/** Chat has functions side by side: one of a namespace is called by both names. */
export function chatName({ namespace, name }: JsonObject): string {
  const [within, own] = [textOf(namespace) ?? '', textOf(name) ?? ''];
  if (within === '') return own;
  return within.endsWith('__') ? within + own : `${within}__${own}`;
}

/** The tools of a request by the names that chat has for them. */
export function toolsByChatName(body: JsonObject): ReadonlyMap<string, Tool> {
  return new Map(
    flat(body).map(({ tool, namespace }) => [
      chatName({ ...tool, namespace }),
      { name: textOf(tool['name']) ?? '', namespace, custom: tool['type'] === 'custom' },
    ]),
  );
}

export const chatTools = (body: JsonObject): JsonObject[] => flat(body).map(chatTool);

interface Placed {
  readonly tool: JsonObject;
  readonly namespace: string | undefined;
  readonly param: string;
}

function flat(body: JsonObject): readonly Placed[] {
  return listOf(body['tools']).flatMap((value, i): readonly Placed[] => {
    const tool = objectOf(value) ?? {};
    const param = `tools[${i}]`;
    if (tool['type'] !== 'namespace') return [{ tool, namespace: undefined, param }];
    const namespace = textOf(tool['name']);
    return listOf(tool['tools']).map((one, j) => ({
      tool: objectOf(one) ?? {},
      namespace,
      param: `${param}.tools[${j}]`,
    }));
  });
}

function chatTool({ tool, namespace, param }: Placed): JsonObject {
  const { type, description } = tool;
  const name = chatName({ ...tool, namespace });
  const told = typeof description === 'string' ? { description } : {};
  if (type === 'function') {
    const strict = tool['strict'] == null ? {} : { strict: tool['strict'] };
    return {
      type,
      function: {
        name,
        ...told,
        parameters: tool['parameters'] ?? { type: 'object', properties: {} },
        ...strict,
      },
    };
  }
  if (type === 'custom') {
    const parameters = {
      type: 'object',
      properties: { [customInput]: { type: 'string' } },
      required: [customInput],
      additionalProperties: false,
    };
    return { type: 'function', function: { name, ...told, parameters } };
  }
  return refuse('invalid_value', {
    param: `${param}.type`,
    why: `tools of type '${String(type)}' are not available for this model.`,
  });
}

export function chatChoice(value: unknown): unknown {
  if (!isObject(value)) return value ?? undefined;
  const { type } = value;
  if (type === 'function' || type === 'custom')
    return { type: 'function', function: { name: chatName(value) } };
  if (type === 'allowed_tools') {
    const tools = listOf(value['tools']).map((one) => ({
      type: 'function',
      function: { name: chatName(objectOf(one) ?? {}) },
    }));
    return { type, allowed_tools: { mode: value['mode'] ?? 'auto', tools } };
  }
  return refuse('invalid_value', {
    param: 'tool_choice.type',
    why: `'${String(type)}' is not available for this model.`,
  });
}
