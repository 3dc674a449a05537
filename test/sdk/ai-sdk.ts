import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  generateText,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  Output,
  streamText,
  tool,
} from 'ai';
import {
  type OpenSdk,
  outputTokensMax,
  person,
  png,
  type Question,
  type Sdk,
  type Told,
  weather,
} from './sdk.ts';

/** It has much to say on the terminal about models that it does not know. */
Reflect.set(globalThis, 'AI_SDK_LOG_WARNINGS', false);

type Provider = (gatewayUrl: string, key: string) => (model: string) => LanguageModel;

const compatible: Provider = (gatewayUrl, apiKey) =>
  createOpenAICompatible({
    name: 'gateway',
    baseURL: `${gatewayUrl}/v1`,
    apiKey,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });
const openai = (gatewayUrl: string, apiKey: string) =>
  createOpenAI({ baseURL: `${gatewayUrl}/v1`, apiKey });

/** By provider; the one for OpenAI's chat knows no member for thoughts. */
export const aiCompatible = aiSdk(compatible, { hearsThoughts: true });
export const aiOpenaiChat = aiSdk((gatewayUrl, key) => openai(gatewayUrl, key).chat, {});
export const aiOpenaiResponses = aiSdk((gatewayUrl, key) => openai(gatewayUrl, key).responses, {
  hearsThoughts: true,
  asksForSummaries: true,
});
export const aiAnthropic = aiSdk(
  (gatewayUrl, apiKey) => createAnthropic({ baseURL: `${gatewayUrl}/v1`, apiKey }),
  {
    hearsThoughts: true,
    schemaNeeds: ['tools'],
  },
);

/** How each provider is told to think. */
const thinking = {
  gateway: { reasoningEffort: 'medium' },
  openai: { reasoningEffort: 'medium', reasoningSummary: 'auto', forceReasoning: true },
  anthropic: { thinking: { type: 'enabled', budgetTokens: outputTokensMax / 2 } },
};

type Traits = Omit<Sdk, 'ask' | 'finishes'>;
const usual: Traits = { hearsThoughts: false, asksForSummaries: false, schemaNeeds: ['schema'] };

function aiSdk(provider: Provider, traits: Partial<Traits>): OpenSdk {
  return (gatewayUrl, key) => {
    const models = provider(gatewayUrl, key);
    const go = async (question: Question, messages: ModelMessage[]): Promise<Told> => {
      const asked = {
        ...optionsOf(question),
        model: models(question.model),
        messages,
        maxRetries: 0,
      };
      const made =
        question.stream === true ? await streamed(asked, question.hear) : await whole(asked);
      return {
        ...made,
        reply: (results) => {
          const answered = made.toolCalls.map(({ toolCallId, toolName }, i) => ({
            type: 'tool-result' as const,
            toolCallId,
            toolName,
            output: { type: 'text' as const, value: results[i] ?? '' },
          }));
          return go(question, [...messages, ...made.messages, { role: 'tool', content: answered }]);
        },
      };
    };
    return {
      finishes: { stop: 'stop', tools: 'tool-calls' },
      ...usual,
      ...traits,
      ask: (question) => go(question, firstMessages(question)),
    };
  };
}

type Asked = Parameters<typeof generateText>[0];
interface Made extends Omit<Told, 'reply'> {
  readonly toolCalls: readonly {
    readonly toolCallId: string;
    readonly toolName: string;
    readonly input: unknown;
  }[];
  readonly messages: readonly ModelMessage[];
}

async function whole(asked: Asked): Promise<Made> {
  const {
    text,
    reasoningText = '',
    toolCalls,
    finishReason,
    usage,
    response,
  } = await generateText(asked);
  return made(text, reasoningText, toolCalls, finishReason, usage, response.messages);
}

async function streamed(asked: Asked, hear: Question['hear']): Promise<Made> {
  const failures: Error[] = [];
  const result = streamText({
    ...asked,
    onError: ({ error }) => {
      failures.push(error instanceof Error ? error : new Error(JSON.stringify(error)));
    },
  });
  for await (const piece of result.textStream) hear?.(piece);
  asked.abortSignal?.throwIfAborted();
  const [failure] = failures;
  if (failure !== undefined) throw failure;
  const { messages } = await result.response;
  return made(
    await result.text,
    (await result.reasoningText) ?? '',
    await result.toolCalls,
    await result.finishReason,
    await result.usage,
    messages,
  );
}

function made(
  text: string,
  reasoning: string,
  toolCalls: Made['toolCalls'],
  finish: string,
  usage: { readonly inputTokens: number | undefined; readonly outputTokens: number | undefined },
  messages: Made['messages'],
): Made {
  const calls = toolCalls.map(({ toolName, input }) => ({ name: toolName, input }));
  return {
    text,
    reasoning,
    toolCalls,
    calls,
    finish,
    messages,
    input: usage.inputTokens ?? 0,
    output: usage.outputTokens ?? 0,
  };
}

function optionsOf({
  tools,
  schema,
  think,
  signal,
}: Question): Omit<Asked, 'model' | 'messages' | 'prompt'> {
  const { description, parameters } = weather;
  return {
    ...(tools === true && {
      tools: { [weather.name]: tool({ description, inputSchema: jsonSchema(parameters) }) },
    }),
    ...(schema === true && {
      output: Output.object({ schema: jsonSchema(person), name: 'person' }),
    }),
    ...(think === true && { providerOptions: thinking, maxOutputTokens: outputTokensMax }),
    ...(signal !== undefined && { abortSignal: signal }),
  };
}

function firstMessages({ prompt, image }: Question): ModelMessage[] {
  if (image !== true) return [{ role: 'user', content: prompt }];
  return [
    {
      role: 'user',
      content: [
        { type: 'text', text: prompt },
        { type: 'image', image: png, mediaType: 'image/png' },
      ],
    },
  ];
}
