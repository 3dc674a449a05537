import OpenAI from 'openai';
import type {
  Response,
  ResponseCreateParams,
  ResponseInput,
} from 'openai/resources/responses/responses';
import { type OpenSdk, person, pngUrl, type Question, type Told, weather } from './sdk.ts';

export const openaiResponses: OpenSdk = (gatewayUrl, apiKey) => {
  const client = new OpenAI({ baseURL: `${gatewayUrl}/v1`, apiKey, maxRetries: 0 });
  const go = async (
    question: Question,
    input: ResponseInput,
    previous: string | null,
  ): Promise<Told> => {
    const body = { ...bodyOf(question), input, previous_response_id: previous };
    const options = question.signal === undefined ? {} : { signal: question.signal };
    if (question.stream !== true)
      return told(await client.responses.create({ ...body, stream: false }, options));
    const stream = client.responses.stream({ ...body, stream: true }, options);
    stream.on('response.output_text.delta', ({ delta }) => question.hear?.(delta));
    // The package throws what a failed response says only when it is asked for the text.
    stream.on('response.failed', ({ response }) => {
      throw new Error(response.error?.message);
    });
    return told(await stream.finalResponse());

    function told({ id, output, output_text: text, status, usage }: Response): Told {
      const calls = output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
      const reasoning = output.flatMap((item) =>
        item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])] : [],
      );
      return {
        text,
        reasoning: reasoning.map((part) => part.text).join(''),
        calls: calls.map(({ name, arguments: json }) => ({ name, input: JSON.parse(json) })),
        finish: status,
        input: usage?.input_tokens ?? 0,
        output: usage?.output_tokens ?? 0,
        reply: (results) =>
          go(
            question,
            calls.map(({ call_id }, i) => ({
              type: 'function_call_output' as const,
              call_id,
              output: results[i] ?? '',
            })),
            id,
          ),
      };
    }
  };
  return {
    finishes: { stop: 'completed', tools: 'completed' },
    hearsThoughts: true,
    asksForSummaries: true,
    schemaNeeds: ['schema'],
    ask: (question) => go(question, firstInput(question), null),
  };
};

function bodyOf({
  model,
  tools,
  schema,
  think,
}: Question): Omit<ResponseCreateParams, 'input' | 'stream'> {
  return {
    model,
    ...(tools === true && { tools: [{ type: 'function', strict: true, ...weather }] }),
    ...(schema === true && {
      text: { format: { type: 'json_schema', name: 'person', strict: true, schema: person } },
    }),
    ...(think === true && { reasoning: { effort: 'medium', summary: 'auto' } }),
  };
}

function firstInput({ prompt, image }: Question): ResponseInput {
  if (image !== true) return [{ role: 'user', content: prompt }];
  return [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: prompt },
        { type: 'input_image', image_url: pngUrl, detail: 'auto' },
      ],
    },
  ];
}
