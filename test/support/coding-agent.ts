import type Anthropic from '@anthropic-ai/sdk';

type Beta = Anthropic.Beta.Messages.MessageCreateParamsNonStreaming;
type Tool = Anthropic.Beta.Messages.BetaTool;

/**
 * The members that a coding agent for Anthropic's models sends with every request: cache marks,
 * betas, many tools, thinking, a user id.
 */
export const betas = [
  'claude-code-20250219',
  'interleaved-thinking-2025-05-14',
  'context-management-2025-06-27',
  'prompt-caching-scope-2026-01-05',
];

const cached = { type: 'ephemeral' } as const;

function tool(
  name: string,
  description: string,
  properties: Record<string, object>,
  required: string[],
): Tool {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object' as const,
    properties,
    required,
    additionalProperties: false,
  };
  return { name, description, input_schema: schema };
}

const path = { type: 'string', description: 'An absolute path' };
const positive = { type: 'number', exclusiveMinimum: 0 };

export const agentTools: Tool[] = [
  tool('get_weather', 'The weather of a city', { city: { type: 'string', minLength: 1 } }, [
    'city',
  ]),
  tool(
    'Bash',
    'Runs a command',
    {
      command: { type: 'string' },
      timeout: { ...positive, maximum: 600_000 },
      run_in_background: { type: 'boolean' },
    },
    ['command'],
  ),
  tool(
    'Read',
    'Reads a file',
    { file_path: path, offset: { type: 'integer', minimum: 0 }, limit: positive },
    ['file_path'],
  ),
  tool(
    'Edit',
    'Replaces text in a file',
    {
      file_path: path,
      old_string: path,
      new_string: path,
      replace_all: { type: 'boolean', default: false },
    },
    ['file_path', 'old_string', 'new_string'],
  ),
  tool(
    'Grep',
    'Searches files',
    {
      pattern: path,
      output_mode: { type: 'string', enum: ['content', 'files_with_matches', 'count'] },
      '-i': { type: 'boolean' },
    },
    ['pattern'],
  ),
  tool(
    'TodoWrite',
    'Keeps the list of what is to be done',
    {
      todos: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          properties: {
            content: { type: 'string', minLength: 1 },
            status: { type: 'string', enum: ['pending', 'in_progress', 'completed'] },
          },
          required: ['content', 'status'],
          additionalProperties: false,
        },
      },
    },
    ['todos'],
  ),
  tool(
    'mcp__docs__search',
    'Searches the documentation',
    { query: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
    [],
  ),
];

const agentQuestion = 'the weather in both Paris and Rome, please.';

/** The first request of a session. */
export function agentRequest(model: string): Beta {
  return {
    model,
    max_tokens: 32_000,
    thinking: { type: 'enabled', budget_tokens: 31_999 },
    metadata: {
      user_id: `user_${'0'.repeat(64)}_account__session_00000000-0000-4000-8000-000000000000`,
    },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    system: [
      { type: 'text', text: 'You are an agent that writes code.', cache_control: cached },
      {
        type: 'text',
        text: 'Be concise.\n\n# Environment\nPlatform: linux',
        cache_control: cached,
      },
    ],
    tools: agentTools,
    messages: [
      {
        role: 'user',
        content: [
          {
            type: 'text',
            text: '<system-reminder>\nnothing is on the list of what is to be done.\n</system-reminder>',
          },
          { type: 'text', text: agentQuestion, cache_control: cached },
        ],
      },
    ],
  };
}
