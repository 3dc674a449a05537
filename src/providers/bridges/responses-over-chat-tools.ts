import type { Call } from '../adapter.ts';
import { refuseMember } from '../takes/rules.ts';
import { isObject, type JsonObject, listOf, objectOf, textOf } from '../wire/json.ts';

/** A custom tool takes one text; for chat it is a function with one of this name. */
export const customInput = 'input';

/** A tool as the request has it. */
export interface Tool {
  readonly name: string;
  /**
   * Of the tools that it stands among (Codex CLI 0.169 sends its own and those of MCP so, 2026-11).
   */
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

export const chatTools = ({
  body,
  publicModel,
}: Pick<Call, 'body' | 'publicModel'>): JsonObject[] =>
  flat(body).map((placed) => chatTool(placed, publicModel));

interface Placed {
  readonly tool: JsonObject;
  readonly namespace: string | undefined;
  readonly param: string;
}

/**
 * The vendor's search for tools that are loaded later. Other models get all tools at once, and no
 * search.
 */
export const isToolSearch = (tool: JsonObject): boolean =>
  tool['type'] === 'tool_search' && tool['execution'] !== 'client';

/** The tools of the request, and those that its input brought along later: one of each name. */
function flat(body: JsonObject): readonly Placed[] {
  const placed = placedIn(body['tools'], 'tools');
  const names = new Set(placed.map(({ tool, namespace }) => chatName({ ...tool, namespace })));
  listOf(body['input']).forEach((item, i) => {
    if (!isObject(item) || !bringsTools.has(item['type'])) return;
    for (const one of placedIn(item['tools'], `input[${i}].tools`)) {
      const name = chatName({ ...one.tool, namespace: one.namespace });
      if (!names.has(name)) placed.push(one);
      names.add(name);
    }
  });
  return placed;
}

/**
 * Items that tell of further tools (developers.openai.com/api/docs/guides/tools-tool-search,
 * 2026-11).
 */
export const bringsTools: ReadonlySet<unknown> = new Set([
  'additional_tools',
  'tool_search_output',
]);

function placedIn(tools: unknown, at: string): Placed[] {
  return listOf(tools).flatMap((value, i): readonly Placed[] => {
    const tool = objectOf(value) ?? {};
    const param = `${at}[${i}]`;
    if (isToolSearch(tool)) return [];
    if (tool['type'] !== 'namespace') return [{ tool, namespace: undefined, param }];
    const namespace = textOf(tool['name']);
    return listOf(tool['tools']).map((one, j) => ({
      tool: objectOf(one) ?? {},
      namespace,
      param: `${param}.tools[${j}]`,
    }));
  });
}

function chatTool({ tool, namespace, param }: Placed, model: string): JsonObject {
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
  return refuseMember(`${param}.type`, model, `it knows no tools of type '${String(type)}'.`);
}

export function chatChoice(value: unknown, model: string): unknown {
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
  return refuseMember('tool_choice.type', model, `it knows no tools of type '${String(type)}'.`);
}
