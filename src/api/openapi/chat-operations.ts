import { chatSchemas } from '../chat.ts';
import { completionRequestSchema } from '../completions.ts';
import {
  type Operations,
  objectSchema,
  answerSchema,
  arraySchema,
  oneOfSchema,
  schemaRef,
  type Schema,
  stringSchema,
  integerSchema,
} from './schema.ts';

export const tokensDescription =
  'What was counted. Vendors’ details (`prompt_tokens_details`, `completion_tokens_details`) stand beside it where they tell them.';

const usage = answerSchema(
  {
    prompt_tokens: integerSchema('Tokens that were read.', 0),
    completion_tokens: integerSchema('Tokens that were written, thoughts included.', 0),
    total_tokens: integerSchema('Both.', 0),
  },
  {
    prompt_tokens_details: objectSchema('Among them: `cached_tokens`.'),
    completion_tokens_details: objectSchema('Among them: `reasoning_tokens`.'),
  },
);

const choice = (members: Readonly<Record<string, Schema>>) =>
  answerSchema(
    { index: integerSchema('Which answer.', 0), ...members },
    {
      finish_reason: stringSchema('`stop`, `length`, `tool_calls`, `content_filter`.'),
      logprobs: objectSchema('Where they were asked for.'),
    },
  );

const completionOf = (
  object: string,
  choices: Schema,
  more: Readonly<Record<string, Schema>> = {},
) =>
  answerSchema(
    {
      id: stringSchema('Names this answer.'),
      object: { type: 'string', const: object },
      created: integerSchema('Unix time, seconds.', 0),
      model: stringSchema('The model that was asked for.'),
      choices: { type: 'array', items: choices },
    },
    more,
  );

export const chatOperations: Operations = {
  'POST /chat/completions': {
    id: 'createChatCompletion',
    tag: 'Chat',
    summary: 'Answer a conversation',
    description:
      'Every chat model of every vendor. Members that are not listed are passed on to the model’s vendor as they came, where it speaks this format; elsewhere they are translated as far as it has them.',
    schemas: {
      Usage: { ...usage, description: tokensDescription },
      ...chatSchemas,
      ChatCompletion: completionOf(
        'chat.completion',
        choice({
          message: answerSchema(
            { role: stringSchema('`assistant`.') },
            {
              content: stringSchema('The answer.'),
              tool_calls: arraySchema(
                'Calls to be made.',
                objectSchema('`{"id", "type", "function": {"name", "arguments"}}`'),
              ),
            },
          ),
        }),
        { usage: schemaRef('Usage') },
      ),
      ChatCompletionChunk: completionOf(
        'chat.completion.chunk',
        choice({
          delta: answerSchema(
            {},
            { role: stringSchema('In the first chunk.'), content: stringSchema('The next piece.') },
          ),
        }),
        { usage: oneOfSchema('In the last chunk, where it was asked for.', schemaRef('Usage')) },
      ),
    },
    body: { 'application/json': schemaRef('ChatRequest') },
    answer: {
      'application/json': schemaRef('ChatCompletion'),
      'text/event-stream': stringSchema(
        '`data: ` and a ChatCompletionChunk, line by line; `data: [DONE]` at the end.',
      ),
    },
    once: true,
  },
  'POST /completions': {
    id: 'createCompletion',
    tag: 'Chat',
    summary: 'Continue a text',
    description:
      'The older form. Chat models whose vendor has it no more are asked as in a conversation of one message.',
    schemas: {
      CompletionRequest: completionRequestSchema,
      Completion: completionOf(
        'text_completion',
        choice({ text: stringSchema('What was written.') }),
        {
          usage: schemaRef('Usage'),
        },
      ),
    },
    body: { 'application/json': schemaRef('CompletionRequest') },
    answer: {
      'application/json': schemaRef('Completion'),
      'text/event-stream': stringSchema(
        '`data: ` and a Completion with the next piece; `data: [DONE]` at the end.',
      ),
    },
    once: true,
  },
};
