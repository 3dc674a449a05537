import {
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { type OpenSdk, person, pngUrl, type Question, type Told, weather } from './sdk.ts';

/** By endpoint; on chat the package knows no member for thoughts. */
export const langchainChat = langchain(false);
export const langchainResponses = langchain(true);

function langchain(useResponsesApi: boolean): OpenSdk {
  return (gatewayUrl, apiKey) => {
    const go = async (question: Question, messages: readonly BaseMessage[]): Promise<Told> => {
      const { model, signal, stream, hear } = question;
      const client = new ChatOpenAI({
        model,
        apiKey,
        maxRetries: 0,
        useResponsesApi,
        configuration: { baseURL: `${gatewayUrl}/v1` },
      });
      const options = { ...optionsOf(question), ...(signal !== undefined && { signal }) };
      let message: AIMessageChunk | undefined;
      if (stream !== true) message = await client.invoke([...messages], options);
      else
        for await (const chunk of await client.stream([...messages], options)) {
          if (chunk.text !== '') hear?.(chunk.text);
          message = message === undefined ? chunk : message.concat(chunk);
        }
      if (message === undefined) throw new Error('no message');
      return told(question, messages, message);
    };
    const told = (
      question: Question,
      messages: readonly BaseMessage[],
      message: AIMessageChunk,
    ): Told => {
      const calls = message.tool_calls ?? [];
      // The package's own type says that there is none.
      const usage: unknown = message.usage_metadata;
      const counted = (name: string): number => Number(Reflect.get(Object(usage), name) ?? 0);
      return {
        text: message.text,
        reasoning: '',
        calls: calls.map(({ name, args }) => ({ name, input: args })),
        finish: message.response_metadata[useResponsesApi ? 'status' : 'finish_reason'],
        input: counted('input_tokens'),
        output: counted('output_tokens'),
        reply: (results) => {
          const answered = calls.map(
            ({ id = '' }, i) => new ToolMessage({ tool_call_id: id, content: results[i] ?? '' }),
          );
          return go(question, [...messages, message, ...answered]);
        },
      };
    };
    const finishes = useResponsesApi
      ? { stop: 'completed', tools: 'completed' }
      : { stop: 'stop', tools: 'tool_calls' };
    return {
      finishes,
      hearsThoughts: false,
      asksForSummaries: useResponsesApi,
      schemaNeeds: ['schema'],
      ask: (question) => go(question, [firstMessage(question)]),
    };
  };
}

type Options = NonNullable<Parameters<ChatOpenAI['invoke']>[1]>;

function optionsOf({ tools, schema, think }: Question): Options {
  return {
    ...(tools === true && { tools: [{ type: 'function', function: weather }] }),
    ...(schema === true && {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'person', strict: true, schema: person },
      },
    }),
    ...(think === true && { reasoning: { effort: 'medium' } }),
  };
}

function firstMessage({ prompt, image }: Question): BaseMessage {
  if (image !== true) return new HumanMessage(prompt);
  return new HumanMessage({
    content: [
      { type: 'text', text: prompt },
      { type: 'image_url', image_url: { url: pngUrl } },
    ],
  });
}
