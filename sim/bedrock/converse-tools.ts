import type { Complaints } from '../anthropic/complaints.ts';
import { isJson, type Json, list, object } from '../json.ts';
import { only, violated } from './converse-blocks.ts';
import type { ConverseModel } from './model.ts';

export function* toolComplaints(raw: Json, model: ConverseModel): Complaints {
  const messages = list(raw['messages']).map(object);
  const config = raw['toolConfig'];
  const used = messages.some((message) =>
    list(message['content']).some((block) => has(block, 'toolUse') || has(block, 'toolResult')),
  );
  if (config === undefined && used)
    yield 'The toolConfig field must be defined when using toolUse and toolResult content blocks.';
  yield* pairs(messages, model);
  if (config === undefined) return;
  if (!model.tools) yield "This model doesn't support tool use.";
  yield* only(object(config), '#/toolConfig', 'tools toolChoice');
  const tools = list(object(config)['tools']).map(object);
  if (tools.length === 0)
    yield violated('[]', 'toolConfig.tools', 'Member must have length greater than or equal to 1');
  for (const [i, tool] of tools.entries()) yield* oneTool(tool, i);
  const names = tools
    .map((tool) => object(tool['toolSpec'])['name'])
    .filter((name) => name !== undefined);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined)
    yield `The toolConfig.tools array contains duplicate tool names: ${String(twice)}.`;
}

const has = (block: unknown, name: string): boolean => object(block)[name] !== undefined;

function* oneTool(tool: Json, index: number): Complaints {
  yield* only(tool, `#/toolConfig/tools/${index}`, 'toolSpec cachePoint systemTool');
  if (tool['toolSpec'] === undefined) return;
  const spec = object(tool['toolSpec']);
  const place = `toolConfig.tools.${index + 1}.member.toolSpec`;
  yield* only(spec, `#/toolConfig/tools/${index}/toolSpec`, 'name description inputSchema strict');
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(spec['name'])))
    yield violated(
      spec['name'],
      `${place}.name`,
      'Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+',
    );
  if (spec['description'] !== undefined && String(spec['description']) === '')
    yield violated(
      '',
      `${place}.description`,
      'Member must have length greater than or equal to 1',
    );
  const { json } = object(spec['inputSchema']);
  if (!isJson(json)) yield violated(json, `${place}.inputSchema.json`, 'Member must not be null');
  if (object(json)['type'] !== 'object')
    yield `The value at toolConfig.tools.${index}.toolSpec.inputSchema.json.type must be one of the following: object.`;
}

/**
 * A turn of results follows a turn of calls, one for each; some models allow no other blocks in
 * either turn.
 */
function* pairs(messages: readonly Json[], { apart }: ConverseModel): Complaints {
  let open: string[] = [];
  for (const [i, message] of messages.entries()) {
    const blocks = list(message['content']).map(object);
    const results = message['role'] === 'user' ? idsOf(blocks, 'toolResult') : [];
    const place = `messages.${i}.content`;
    const hasContent = blocks.some((block) => has(block, 'text') || has(block, 'image'));
    if (apart && hasContent && results.length > 0)
      yield `${place}: Conversation blocks and tool result blocks cannot be provided in the same turn.`;
    if (apart && hasContent && idsOf(blocks, 'toolUse').length > 0)
      yield `${place}: Conversation blocks and tool use blocks cannot be provided in the same turn.`;
    if (results.length > open.length || results.some((id) => !open.includes(id)))
      yield `The number of toolResult blocks at ${place} exceeds the number of toolUse blocks of previous turn.`;
    if (new Set(results).size < results.length)
      yield `The toolResult blocks at ${place} contain duplicate Ids: ${results.join(', ')}`;
    const missing = open.filter((id) => !results.includes(id));
    if (missing.length > 0)
      yield `Expected toolResult blocks at ${place} for the following Ids: ${missing.join(', ')}`;
    open = message['role'] === 'assistant' ? callsOf(blocks) : [];
    if (new Set(open).size < open.length)
      yield `The toolUse blocks at ${place} contain duplicate Ids: ${open.join(', ')}`;
  }
  if (open.length > 0)
    yield `Expected toolResult blocks at messages.${messages.length}.content for the following Ids: ${open.join(', ')}`;
}

const idsOf = (blocks: readonly Json[], kind: string): string[] =>
  blocks
    .filter((block) => has(block, kind))
    .map((block) => String(object(block[kind])['toolUseId']));

/** Calls of the vendor's own tools have their results in the same turn. */
function callsOf(blocks: readonly Json[]): string[] {
  const answered = idsOf(blocks, 'toolResult');
  return idsOf(blocks, 'toolUse').filter((id) => !answered.includes(id));
}

export function* choiceComplaints(raw: Json, { choices }: ConverseModel): Complaints {
  const config = object(raw['toolConfig']);
  const choice = object(config['toolChoice']);
  const [kind] = Object.keys(choice);
  if (kind === undefined) return;
  yield* only(choice, '#/toolConfig/toolChoice', 'auto any tool');
  if (kind !== 'auto' && !choices.some((taken) => taken === kind))
    yield `This model doesn't support the toolConfig.toolChoice.${kind} field. Remove toolConfig.toolChoice.${kind} and try again.`;
  const names = list(config['tools']).map((tool) => object(object(tool)['toolSpec'])['name']);
  if (kind === 'tool' && !names.includes(object(choice['tool'])['name']))
    yield `The toolChoice.tool.name ${String(object(choice['tool'])['name'])} does not match any of the tools in toolConfig.tools.`;
}
