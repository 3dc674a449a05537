import Anthropic from '@anthropic-ai/sdk';
import {
  type OpenSdk,
  outputTokensMax,
  person,
  png,
  type Question,
  type Told,
  weather,
} from './sdk.ts';

export const anthropic: OpenSdk = (gatewayUrl, apiKey) => {
  const client = new Anthropic({ baseURL: gatewayUrl, apiKey, maxRetries: 0 });
  const go = async (
    question: Question,
    messages: readonly Anthropic.MessageParam[],
  ): Promise<Told> => {
    const body = { ...bodyOf(question), messages: [...messages] };
    const options = question.signal === undefined ? {} : { signal: question.signal };
    if (question.stream !== true)
      return told(await client.messages.create({ ...body, stream: false }, options));
    const stream = client.messages.stream(body, options);
    stream.on('text', (piece) => question.hear?.(piece));
    return told(await stream.finalMessage());

    function told({ content, stop_reason: finish, usage }: Anthropic.Message): Told {
      const calls = content.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
      return {
        text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
        reasoning: content
          .map((block) => (block.type === 'thinking' ? block.thinking : ''))
          .join(''),
        calls: calls.map(({ name, input }) => ({ name, input })),
        finish,
        input: usage.input_tokens + (usage.cache_read_input_tokens ?? 0),
        output: usage.output_tokens,
        reply: (results) => {
          const answered = calls.map(({ id }, i) => ({
            type: 'tool_result' as const,
            tool_use_id: id,
            content: results[i] ?? '',
          }));
          return go(question, [
            ...messages,
            { role: 'assistant', content },
            { role: 'user', content: answered },
          ]);
        },
      };
    }
  };
  return {
    finishes: { stop: 'end_turn', tools: 'tool_use' },
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
}: Question): Omit<Anthropic.MessageCreateParamsNonStreaming, 'messages' | 'stream'> {
  const { parameters, ...tool } = weather;
  return {
    model,
    max_tokens: outputTokensMax,
    ...(tools === true && { tools: [{ ...tool, input_schema: parameters }] }),
    ...(schema === true && { output_config: { format: { type: 'json_schema', schema: person } } }),
    ...(think === true && {
      thinking: { type: 'enabled', budget_tokens: outputTokensMax / 2, display: 'summarized' },
    }),
  };
}

function firstMessages({ prompt, image }: Question): Anthropic.MessageParam[] {
  if (image !== true) return [{ role: 'user', content: prompt }];
  return [
    {
      role: 'user',
      content: [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
        { type: 'text', text: prompt },
      ],
    },
  ];
}
