import {
  answeredCalls,
  anyMessage,
  format,
  functionTool,
  messages,
  named,
  penalties,
  stop,
  streamOptions,
  usual,
} from './chat-pieces.ts';
import { openaiResponses } from './responses.ts';
import {
  either,
  type Endpoint,
  flag,
  isObject,
  type Json,
  list,
  memberAt,
  object,
  objectsOf,
  one,
  rule,
  tagged,
  text,
  whole,
} from './shape.ts';

// DeepSeek's chat (api-docs.deepseek.com/api/create-chat-completion and guides/thinking_mode,
// 2026-11).

const page = 'api-docs.deepseek.com/guides/thinking_mode, 2026-11';

/** deepseek-v4 thinks unless it is told not to; the alias deepseek-chat does not. */
function thinks(body: Json, model: string): boolean {
  const told = memberAt(body, 'thinking.type');
  return told === undefined ? !/deepseek-chat/.test(model) : told !== 'disabled';
}

/** Its Responses are OpenAI's, but for what stands between a call and its result. */
export const deepseekResponses: Endpoint = {
  ...openaiResponses,
  rules: [
    ...(openaiResponses.rules ?? []),
    rule('recorded deepseek-0143: "No tool output found for tool call"', undefined, ({ body }) => {
      const items = objectsOf(body['input']);
      const open = (index: number): boolean =>
        items
          .slice(0, index)
          .some(
            (call) =>
              call['type'] === 'function_call' &&
              !items
                .slice(0, index)
                .some(
                  (told) =>
                    told['type'] === 'function_call_output' && told['call_id'] === call['call_id'],
                ),
          );
      return items.flatMap((item, index) =>
        item['role'] !== undefined && open(index)
          ? [`input[${index}]: a message before the result of a call`]
          : [],
      );
    }),
  ],
};

export const deepseek: Endpoint = {
  path: /\/chat\/completions$/,
  source: 'api-docs.deepseek.com/api/create-chat-completion, 2026-11',
  body: object(
    {
      ...usual,
      ...penalties,
      messages: messages({
        roles: ['system', 'user', 'assistant', 'tool'],
        all: { name: text() },
        // Text alone: "unknown variant `image_url`, expected `text`" (recorded deepseek-0082 to
        // 0084, 0089).
        assistant: { reasoning_content: text(), prefix: flag },
        call: { index: whole(0) },
      }),
      thinking: object({ type: one('enabled', 'disabled') }, 'type'),
      reasoning_effort: one('minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'ultra'),
      // "This response_format type is unavailable now" (by its issue llm-exe#662).
      response_format: format('text', 'json_object'),
      stop: stop(16),
      stream_options: streamOptions,
      // The name beside the function: recorded deepseek-0125, accepted.
      tools: list(
        tagged('type', { function: functionTool({ strict: flag }, { tool: { name: text() } }) }),
        { max: 128 },
      ),
      tool_choice: either(one('none', 'auto', 'required'), named),
      logprobs: flag,
      top_logprobs: whole(0, 20),
      user_id: text({ max: 512 }),
      // Neither is on the page; recorded, accepted (deepseek-0134, deepseek-0003).
      n: one(1),
      parallel_tool_calls: flag,
    },
    'model',
    'messages',
  ),
  rules: [
    answeredCalls('api-docs.deepseek.com/guides/tool_calls, 2026-11'),
    rule(`recorded deepseek-0086, deepseek-0087; ${page}`, undefined, ({ body, model }) =>
      thinks(body, model) && (body['tool_choice'] === 'required' || isObject(body['tool_choice']))
        ? ['tool_choice: no tool is forced while thinking']
        : [],
    ),
    rule(
      `${page}: turns with tool calls bring their reasoning_content back, else 400`,
      undefined,
      ({ body, model }) =>
        thinks(body, model) &&
        anyMessage(
          body,
          (message) =>
            message['role'] === 'assistant' &&
            Array.isArray(message['tool_calls']) &&
            message['tool_calls'].length > 0 &&
            typeof message['reasoning_content'] !== 'string',
        )
          ? ['messages: a call without the reasoning_content before it']
          : [],
    ),
  ],
};
