import { choicesMax, stopsMax, topLogprobsMax } from '../chat.ts';
import { insteadOfContent, roles } from '../chat-messages.ts';
import { bestOfMax, logprobsMax, promptsMax } from '../completions.ts';
import type { Operations } from './operation.ts';
import {
  anyObject,
  answered,
  asked,
  flag,
  list,
  number,
  oneOf,
  onlyBeside,
  passed,
  ref,
  type Schema,
  text,
  whole,
  word,
} from './schema.ts';

export const tokensDescription =
  'What was counted. Vendors’ details (`prompt_tokens_details`, `completion_tokens_details`) stand beside it where they tell them.';

const usage = answered(
  {
    prompt_tokens: whole('Tokens that were read.', 0),
    completion_tokens: whole('Tokens that were written, thoughts included.', 0),
    total_tokens: whole('Both.', 0),
  },
  {
    prompt_tokens_details: anyObject('Among them: `cached_tokens`.'),
    completion_tokens_details: anyObject('Among them: `reasoning_tokens`.'),
  },
);

const part = asked(
  { type: text('`text`, `image_url`, `input_audio`, `file`, `video_url`; others are passed on.') },
  {
    text: passed('Of a `text` part.'),
    image_url: passed('Of an image: `{"url": "https://…"}` or a data URL, and `detail`.'),
  },
);

const said: Schema = {
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
    said,
    { properties: { role: { const: 'function' } } },
    { properties: { role: { const: 'assistant' } }, anyOf: insteadOfContent.map(isThere) },
  ],
};

/** A part that is a text has one. */
const textOfText: Schema = {
  anyOf: [
    { not: { properties: { type: { const: 'text' } } } },
    { required: ['text'], properties: { text: { type: 'string' } } },
  ],
};

const message: Schema = asked(
  { role: word('Who speaks.', roles) },
  {
    content: oneOf(
      'What is said: a text, or parts. An assistant’s message may go without when it called tools, refused, spoke or thought instead.',
      { type: 'string' },
      { type: 'array', items: ref('ContentPart') },
    ),
    name: passed('Tells speakers of one role apart.'),
    tool_calls: passed('Calls that the assistant made.'),
    tool_call_id: passed('The call that a `tool` message answers.'),
  },
);

const streamOptions = asked(
  {},
  { include_usage: flag('A last chunk with `usage` and no choices.') },
);

/** Sampling that chat and text completions have alike. */
const sampling = {
  temperature: number('Sampling temperature, 1 by default.', 0, 2),
  top_p: number('Nucleus sampling.', 0, 1),
  frequency_penalty: number('Against repetition.', -2, 2),
  presence_penalty: number('Against staying with a subject.', -2, 2),
  seed: { type: 'integer', description: 'For answers that repeat, as far as the model can.' },
  logit_bias: anyObject('Token → bias.'),
  stop: oneOf(
    `Where the model stops: a text, or at most ${stopsMax} of them.`,
    { type: 'string' },
    { type: 'array', items: { type: 'string' }, maxItems: stopsMax },
  ),
  user: passed('Your name for your user.'),
};

const stream = flag('Chunks as they are written, as server-sent events, ended by `data: [DONE]`.');
const streaming = onlyBeside('stream_options', { stream: { const: true } });
const options = { ...ref('StreamOptions'), description: 'Only with `stream`.' };

const chatRequest = asked(
  {
    model: text('Which model answers; `GET /v1/models` lists them.', { minLength: 1 }),
    messages: list('The conversation, oldest first.', ref('ChatMessage'), { minItems: 1 }),
  },
  {
    ...sampling,
    max_tokens: whole('Tokens that are written at most.', 1),
    max_completion_tokens: whole(
      'The same under its newer name, which is preferred where both are given.',
      1,
    ),
    n: whole('Answers.', 1, choicesMax),
    stream,
    stream_options: options,
    top_logprobs: whole('Likeliest tokens told of each place.', 0, topLogprobsMax),
    logprobs: passed('Whether to tell probabilities.'),
    tools: list(
      'What the model may call.',
      anyObject('`{"type": "function", "function": {"name", "description", "parameters"}}`'),
    ),
    tool_choice: passed('`auto`, `none`, `required`, or the function that must be called.'),
    parallel_tool_calls: flag('Whether several calls may come at once.'),
    response_format: asked(
      { type: text('`text`, `json_object` or `json_schema`.') },
      { json_schema: passed('The schema.') },
    ),
    reasoning_effort: passed('How much is thought before the answer.'),
  },
);

const choice = (said: Readonly<Record<string, Schema>>) =>
  answered(
    { index: whole('Which answer.', 0), ...said },
    {
      finish_reason: text('`stop`, `length`, `tool_calls`, `content_filter`.'),
      logprobs: anyObject('Where they were asked for.'),
    },
  );

const completionOf = (
  object: string,
  choices: Schema,
  more: Readonly<Record<string, Schema>> = {},
) =>
  answered(
    {
      id: text('Names this answer.'),
      object: { type: 'string', const: object },
      created: whole('Unix time, seconds.', 0),
      model: text('The model that was asked for.'),
      choices: { type: 'array', items: choices },
    },
    more,
  );

const textRequest = asked(
  {
    model: text('Any chat model, or one that completes texts.', { minLength: 1 }),
    prompt: oneOf(
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
    max_tokens: whole('Tokens that are written at most.', 0),
    n: whole('Answers to each prompt.', 1, choicesMax),
    best_of: whole(
      'Answers that are written for each prompt, of which the best `n` are told; all are paid for.',
      1,
      bestOfMax,
    ),
    stream,
    stream_options: options,
    logprobs: whole('Likeliest tokens told of each place.', 0, logprobsMax),
    echo: flag('Tell the prompt as well.'),
    suffix: text('What comes after the answer.'),
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
          message: answered(
            { role: text('`assistant`.') },
            {
              content: text('The answer.'),
              tool_calls: list(
                'Calls to be made.',
                anyObject('`{"id", "type", "function": {"name", "arguments"}}`'),
              ),
            },
          ),
        }),
        { usage: ref('Usage') },
      ),
      ChatCompletionChunk: completionOf(
        'chat.completion.chunk',
        choice({
          delta: answered(
            {},
            { role: text('In the first chunk.'), content: text('The next piece.') },
          ),
        }),
        { usage: oneOf('In the last chunk, where it was asked for.', ref('Usage')) },
      ),
    },
    body: { 'application/json': ref('ChatRequest') },
    answer: {
      'application/json': ref('ChatCompletion'),
      'text/event-stream': text(
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
      Completion: completionOf('text_completion', choice({ text: text('What was written.') }), {
        usage: ref('Usage'),
      }),
    },
    body: { 'application/json': ref('CompletionRequest') },
    answer: {
      'application/json': ref('Completion'),
      'text/event-stream': text(
        '`data: ` and a Completion with the next piece; `data: [DONE]` at the end.',
      ),
    },
    once: true,
  },
};
