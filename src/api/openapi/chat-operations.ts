import { chatSchemas } from '../chat.ts';
import { completionRequestSchema } from '../completions.ts';
import * as schema from '../schema.ts';

export const tokensDescription =
  'What was counted. Vendors’ details (`prompt_tokens_details`, `completion_tokens_details`) stand beside it where they tell them.';

const usage = schema.answer(
  {
    prompt_tokens: schema.integer('Tokens that were read.', 0),
    completion_tokens: schema.integer('Tokens that were written, thoughts included.', 0),
    total_tokens: schema.integer('Both.', 0),
  },
  {
    prompt_tokens_details: schema.object('Among them: `cached_tokens`.'),
    completion_tokens_details: schema.object('Among them: `reasoning_tokens`.'),
  },
);

const choice = (members: Readonly<Record<string, schema.Schema>>) =>
  schema.answer(
    { index: schema.integer('Which answer.', 0), ...members },
    {
      finish_reason: schema.string('`stop`, `length`, `tool_calls`, `content_filter`.'),
      logprobs: schema.object('Where they were asked for.'),
    },
  );

const completionOf = (
  object: string,
  choices: schema.Schema,
  more: Readonly<Record<string, schema.Schema>> = {},
) =>
  schema.answer(
    {
      id: schema.string('Names this answer.'),
      object: { type: 'string', const: object },
      created: schema.integer('Unix time, seconds.', 0),
      model: schema.string('The model that was asked for.'),
      choices: { type: 'array', items: choices },
    },
    more,
  );

export const chatOperations: schema.Operations = {
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
          message: schema.answer(
            { role: schema.string('`assistant`.') },
            {
              content: schema.string('The answer.'),
              tool_calls: schema.array(
                'Calls to be made.',
                schema.object('`{"id", "type", "function": {"name", "arguments"}}`'),
              ),
            },
          ),
        }),
        { usage: schema.ref('Usage') },
      ),
      ChatCompletionChunk: completionOf(
        'chat.completion.chunk',
        choice({
          delta: schema.answer(
            {},
            {
              role: schema.string('In the first chunk.'),
              content: schema.string('The next piece.'),
            },
          ),
        }),
        { usage: schema.anyOf('In the last chunk, where it was asked for.', schema.ref('Usage')) },
      ),
    },
    body: { 'application/json': schema.ref('ChatRequest') },
    answer: {
      'application/json': schema.ref('ChatCompletion'),
      'text/event-stream': schema.string(
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
        choice({ text: schema.string('What was written.') }),
        {
          usage: schema.ref('Usage'),
        },
      ),
    },
    body: { 'application/json': schema.ref('CompletionRequest') },
    answer: {
      'application/json': schema.ref('Completion'),
      'text/event-stream': schema.string(
        '`data: ` and a Completion with the next piece; `data: [DONE]` at the end.',
      ),
    },
    once: true,
  },
};
