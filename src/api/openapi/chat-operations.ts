import {
  choicesMax,
  chatStopsMax,
  chatTopLogprobsMax,
  contentAlternatives,
  chatRoles,
} from '../chat.ts';
import { bestOfMax, logprobsMax, promptsMax } from '../completions.ts';
import {
  type Operations,
  objectSchema,
  answerSchema,
  requestSchema,
  booleanSchema,
  arraySchema,
  numberSchema,
  oneOfSchema,
  onlyWith,
  forwardedSchema,
  schemaRef,
  type Schema,
  stringSchema,
  integerSchema,
  enumSchema,
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

const part = requestSchema(
  {
    type: stringSchema(
      '`text`, `image_url`, `input_audio`, `file`, `video_url`; others are passed on.',
    ),
  },
  {
    text: forwardedSchema('Of a `text` part.'),
    image_url: forwardedSchema('Of an image: `{"url": "https://…"}` or a data URL, and `detail`.'),
  },
);

const messageContent: Schema = {
  required: ['content'],
  properties: { content: { type: ['string', 'array'] } },
};
const isThere = (name: string): Schema => ({
  required: [name],
  properties: { [name]: { not: { type: 'null' } } },
});

/** Messages of most roles need `content`. An assistant's message may have calls instead. */
const speaking: Schema = {
  anyOf: [
    messageContent,
    { properties: { role: { const: 'function' } } },
    { properties: { role: { const: 'assistant' } }, anyOf: contentAlternatives.map(isThere) },
  ],
};

/** A part of the type `text` has a `text`. */
const textOfText: Schema = {
  anyOf: [
    { not: { properties: { type: { const: 'text' } } } },
    { required: ['text'], properties: { text: { type: 'string' } } },
  ],
};

const message: Schema = requestSchema(
  { role: enumSchema('Who speaks.', chatRoles) },
  {
    content: oneOfSchema(
      'What is said: a text, or parts. An assistant’s message may go without when it called tools, refused, spoke or thought instead.',
      { type: 'string' },
      { type: 'array', items: schemaRef('ContentPart') },
    ),
    name: forwardedSchema('Tells speakers of one role apart.'),
    tool_calls: forwardedSchema('Calls that the assistant made.'),
    tool_call_id: forwardedSchema('The call that a `tool` message answers.'),
  },
);

const streamOptions = requestSchema(
  {},
  { include_usage: booleanSchema('A last chunk with `usage` and no choices.') },
);

/** Sampling parameters that chat and text completions share. */
const sampling = {
  temperature: numberSchema('Sampling temperature, 1 by default.', 0, 2),
  top_p: numberSchema('Nucleus sampling.', 0, 1),
  frequency_penalty: numberSchema('Against repetition.', -2, 2),
  presence_penalty: numberSchema('Against staying with a subject.', -2, 2),
  seed: { type: 'integer', description: 'For answers that repeat, as far as the model can.' },
  logit_bias: objectSchema('Token → bias.'),
  stop: oneOfSchema(
    `Where the model stops: a text, or at most ${chatStopsMax} of them.`,
    { type: 'string' },
    { type: 'array', items: { type: 'string' }, maxItems: chatStopsMax },
  ),
  user: forwardedSchema('Your name for your user.'),
};

const stream = booleanSchema(
  'Chunks as they are written, as server-sent events, ended by `data: [DONE]`.',
);
const streaming = onlyWith('stream_options', { stream: { const: true } });
const options = { ...schemaRef('StreamOptions'), description: 'Only with `stream`.' };

const chatRequest = requestSchema(
  {
    model: stringSchema('Which model answers; `GET /v1/models` lists them.', { minLength: 1 }),
    messages: arraySchema('The conversation, oldest first.', schemaRef('ChatMessage'), {
      minItems: 1,
    }),
  },
  {
    ...sampling,
    max_tokens: integerSchema('Tokens that are written at most.', 1),
    max_completion_tokens: integerSchema(
      'The same under its newer name, which is preferred where both are given.',
      1,
    ),
    n: integerSchema('Answers.', 1, choicesMax),
    stream,
    stream_options: options,
    top_logprobs: integerSchema('Likeliest tokens told of each place.', 0, chatTopLogprobsMax),
    logprobs: forwardedSchema('Whether to tell probabilities.'),
    tools: arraySchema(
      'What the model may call.',
      objectSchema('`{"type": "function", "function": {"name", "description", "parameters"}}`'),
    ),
    tool_choice: forwardedSchema(
      '`auto`, `none`, `required`, or the function that must be called.',
    ),
    parallel_tool_calls: booleanSchema('Whether several calls may come at once.'),
    response_format: requestSchema(
      { type: stringSchema('`text`, `json_object` or `json_schema`.') },
      { json_schema: forwardedSchema('The schema.') },
    ),
    reasoning_effort: forwardedSchema('How much is thought before the answer.'),
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

const textRequest = requestSchema(
  {
    model: stringSchema('Any chat model, or one that completes texts.', { minLength: 1 }),
    prompt: oneOfSchema(
      `A text, tokens, or up to ${promptsMax} of either.`,
      { type: 'string' },
      { type: 'array', minItems: 1, items: { type: 'string' }, maxItems: promptsMax },
      { type: 'array', minItems: 1, items: { type: 'integer', minimum: 0 } },
      {
        type: 'array',
        minItems: 1,
        maxItems: promptsMax,
        items: { type: 'array', minItems: 1, items: { type: 'integer', minimum: 0 } },
      },
    ),
  },
  {
    ...sampling,
    max_tokens: integerSchema('Tokens that are written at most.', 0),
    n: integerSchema('Answers to each prompt.', 1, choicesMax),
    best_of: integerSchema(
      'Answers that are written for each prompt, of which the best `n` are told; all are paid for.',
      1,
      bestOfMax,
    ),
    stream,
    stream_options: options,
    logprobs: integerSchema('Likeliest tokens told of each place.', 0, logprobsMax),
    echo: booleanSchema('Tell the prompt as well.'),
    suffix: stringSchema('What comes after the answer.'),
  },
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
      ContentPart: { ...part, allOf: [textOfText] },
      ChatMessage: { ...message, allOf: [speaking] },
      StreamOptions: streamOptions,
      ChatRequest: { ...chatRequest, allOf: [streaming] },
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
      CompletionRequest: { ...textRequest, allOf: [streaming] },
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
