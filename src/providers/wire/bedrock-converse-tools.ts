import type { ToolPlan } from './anthropic-messages-tools.ts';
import type { ConverseModel } from './bedrock-converse-models.ts';
import { cachePoint } from './bedrock-converse-turns.ts';
import type { Conversation } from './chat-conversation.ts';
import { type JsonObject, objectOf, textOf } from './json.ts';

/** Tools in Converse's words. */
export interface ConverseTools {
  readonly config: JsonObject | undefined;
  /** `additionalModelRequestFields`. */
  readonly fields: JsonObject;
  /** Instructions for what Converse has no parameter for. */
  readonly told: readonly string[];
}

const silence = 'Do not call any tool in your next answer.';

/**
 * Converse knows no `none`; and calls in the conversation want their tools declared ("The
 * toolConfig field must be defined when using toolUse and toolResult content blocks").
 */
export function toolConfig(
  { tools, choice }: ToolPlan,
  { turns }: Conversation,
  model: ConverseModel,
): ConverseTools {
  const used = new Set(turns.flatMap((turn) => turn.calls.map(({ name }) => name)));
  const none = choice?.['type'] === 'none';
  if (tools.length === 0 || none) {
    const declared = tools.length
      ? tools.flatMap((tool) => written(tool, model))
      : [...used].map(unknownTool);
    return used.size === 0
      ? { config: undefined, fields: {}, told: [] }
      : { config: { tools: declared }, fields: {}, told: [silence] };
  }
  const asked = choice?.['type'] === 'any' || choice?.['type'] === 'tool';
  const declared = asked && model.chooses === 'nothing' ? obliging(tools, choice) : tools;
  // A named choice and Claude's own cannot be given at once, so that only a free choice can ask for
  // one call at a time.
  const single =
    model.claude && choice?.['type'] === 'auto' && choice['disable_parallel_tool_use'] === true;
  const toolChoice = single ? undefined : choiceOf(choice, model);
  return {
    config: {
      tools: declared.flatMap((tool) => written(tool, model)),
      ...(toolChoice ? { toolChoice } : {}),
    },
    fields: single ? { tool_choice: choice } : {},
    told: [],
  };
}

function choiceOf(
  choice: JsonObject | undefined,
  { chooses }: ConverseModel,
): JsonObject | undefined {
  if (!choice || choice['type'] === 'auto') return choice && { auto: {} };
  if (chooses === 'nothing') return undefined;
  return choice['type'] === 'tool' && chooses === 'named'
    ? { tool: { name: choice['name'] } }
    : { any: {} };
}

/**
 * Where a call cannot be demanded ("This model doesn't support the toolConfig.toolChoice.any
 * field"), the tools say themselves that they want to be called.
 */
function obliging(tools: readonly JsonObject[], choice: JsonObject): JsonObject[] {
  const named = choice['name'];
  const plea =
    named === undefined
      ? 'At least one of the tools must be called in the next answer.'
      : 'This tool must be called in the next answer.';
  return tools.map((tool) =>
    named !== undefined && tool['name'] !== named
      ? tool
      : { ...tool, description: [textOf(tool['description']), plea].filter(Boolean).join(' ') },
  );
}

function written(tool: JsonObject, { caches }: ConverseModel): JsonObject[] {
  const { name, description, input_schema: json, strict } = tool;
  const toolSpec = {
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema: { json },
    ...(strict === true ? { strict } : {}),
  };
  const cache = objectOf(tool['cache_control']);
  return cache && caches === 'everywhere' ? [{ toolSpec }, cachePoint(cache)] : [{ toolSpec }];
}

/** A tool of which only the calls are left. */
const unknownTool = (name: string): JsonObject => ({
  toolSpec: { name, inputSchema: { json: { type: 'object', properties: {} } } },
});
