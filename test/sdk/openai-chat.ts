import OpenAI from 'openai';
import type {
  ChatCompletion,
  ChatCompletionCreateParams,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import {
  type OpenSdk,
  outputTokensMax,
  person,
  pngUrl,
  type Question,
  type Told,
  weather,
} from './sdk.ts';

export const openaiChat: OpenSdk = (gatewayUrl, apiKey) => {
  const client = new OpenAI({ baseURL: `${gatewayUrl}/v1`, apiKey, maxRetries: 0 });
  const go = async (
    question: Question,
    messages: readonly ChatCompletionMessageParam[],
  ): Promise<Told> => {
    const body = { ...bodyOf(question), messages: [...messages] };
    const options = question.signal === undefined ? {} : { signal: question.signal };
    if (question.stream !== true)
      return told(await client.chat.completions.create({ ...body, stream: false }, options));
    const stream = client.chat.completions.stream(
      { ...body, stream: true, stream_options: { include_usage: true } },
      options,
    );
    let reasoning = '';
    stream.on('content', (piece) => question.hear?.(piece));
    stream.on('chunk', ({ choices: [choice] }) => {
      reasoning += thoughts(choice?.delta);
    });
    return { ...told(await stream.finalChatCompletion()), reasoning };

    function told({ choices: [choice], usage }: ChatCompletion): Told {
      if (choice === undefined) throw new Error('no choice');
      const { message } = choice;
      const calls = (message.tool_calls ?? []).flatMap((call) =>
        call.type === 'function' ? [call] : [],
      );
      return {
        text: message.content ?? '',
        reasoning: thoughts(message),
        calls: calls.map((call) => ({
          name: call.function.name,
          input: JSON.parse(call.function.arguments),
        })),
        finish: choice.finish_reason,
        input: usage?.prompt_tokens ?? 0,
        output: usage?.completion_tokens ?? 0,
        reply: (results) => {
          const answered = calls.map(({ id }, i) => ({
            role: 'tool' as const,
            tool_call_id: id,
            content: results[i] ?? '',
          }));
          return go(question, [...messages, message, ...answered]);
        },
      };
    }
  };
  return {
    finishes: { stop: 'stop', tools: 'tool_calls' },
    hearsThoughts: true,
    asksForSummaries: false,
    schemaNeeds: ['schema'],
    ask: (question) => go(question, firstMessages(question)),
  };
};

function bodyOf({
  model,
  tools,
  schema,
  think,
}: Question): Omit<ChatCompletionCreateParams, 'messages' | 'stream'> {
  return {
    model,
    ...(tools === true && { tools: [{ type: 'function', function: weather }] }),
    ...(schema === true && {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'person', strict: true, schema: person },
      },
    }),
    ...(think === true && { reasoning_effort: 'medium', max_completion_tokens: outputTokensMax }),
  };
}

function firstMessages({ prompt, image }: Question): ChatCompletionMessageParam[] {
  if (image !== true) return [{ role: 'user', content: prompt }];
  return [
    {
      role: 'user',
      content: [
        { type: 'text', text: prompt },
        { type: 'image_url', image_url: { url: pngUrl } },
      ],
    },
  ];
}

/** The package knows no such member and keeps it. */
function thoughts(message: object | undefined): string {
  return message !== undefined &&
    'reasoning_content' in message &&
    typeof message.reasoning_content === 'string'
    ? message.reasoning_content
    : '';
}
