import { chatSchemas } from '../chat.ts';
import { completionRequestSchema } from '../completions.ts';
import * as schema from '../schema.ts';

export const tokensDescription =
  'The counted tokens. If the vendor reports details, `prompt_tokens_details` and `completion_tokens_details` have them.';

const usage = schema.answer(
  {
    prompt_tokens: schema.integer('Input tokens.', 0),
    completion_tokens: schema.integer('Output tokens, including reasoning.', 0),
    total_tokens: schema.integer('Input plus output tokens.', 0),
  },
  {
    prompt_tokens_details: schema.object('Includes `cached_tokens`.'),
    completion_tokens_details: schema.object('Includes `reasoning_tokens`.'),
  },
);

const choice = (members: Readonly<Record<string, schema.Schema>>) =>
  schema.answer(
    { index: schema.integer('Number of the answer, from 0.', 0), ...members },
    {
      finish_reason: schema.string('`stop`, `length`, `tool_calls`, `content_filter`.'),
      logprobs: schema.object('If requested.'),
    },
  );

const completionOf = (
  object: string,
  choices: schema.Schema,
  more: Readonly<Record<string, schema.Schema>> = {},
) =>
  schema.answer(
    {
      id: schema.string('ID of this answer.'),
      object: { type: 'string', const: object },
      created: schema.integer('Unix time in seconds.', 0),
      model: schema.string('The requested model.'),
      choices: { type: 'array', items: choices },
    },
    more,
  );

export const chatOperations: schema.Operations = {
  'POST /chat/completions': {
    id: 'createChatCompletion',
    tag: 'Chat',
    calls: 'chat',
    summary: 'Create a chat completion',
    description:
      'For every chat model of every vendor. If the vendor uses this format, members that are not listed are forwarded unchanged; otherwise they are translated if the vendor has an equivalent.',
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
                'Tool calls to run.',
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
              content: schema.string('The next part of the answer.'),
            },
          ),
        }),
        { usage: schema.anyOf('In the last chunk, if requested.', schema.ref('Usage')) },
      ),
    },
    body: { 'application/json': schema.ref('ChatRequest') },
    answer: {
      'application/json': schema.ref('ChatCompletion'),
      'text/event-stream': schema.string(
        '`data: ` and a ChatCompletionChunk, line by line; `data: [DONE]` at the end.',
      ),
    },
  },
  'POST /completions': {
    id: 'createCompletion',
    tag: 'Chat',
    calls: 'chat',
    summary: 'Create a completion',
    description:
      'The legacy endpoint. If the vendor no longer has it, the gateway sends the prompt as a chat with one message.',
    schemas: {
      CompletionRequest: completionRequestSchema,
      Completion: completionOf(
        'text_completion',
        choice({ text: schema.string('The generated text.') }),
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
  },
};
