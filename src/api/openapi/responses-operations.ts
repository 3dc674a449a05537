import { roles } from '../responses-content.ts';
import { outputTokensLeast, topLogprobsMax } from '../responses.ts';
import { pageMax } from '../responses-stored.ts';
import type { Operations } from './operation.ts';
import {
  anyObject,
  answered,
  asked,
  flag,
  list,
  number,
  oneOf,
  pageOf,
  pageQuery,
  passed,
  ref,
  type Schema,
  text,
  whole,
} from './schema.ts';

const isMessage: Schema = {
  anyOf: [
    { required: ['role'], properties: { type: { type: 'null' } } },
    { required: ['type'], properties: { type: { const: 'message' } } },
  ],
};

/** Whatever has a role is a message, and says something. */
const item: Schema = {
  type: 'object',
  description:
    'A message, a call, what a call gave, a thought, …; types that are not known here are passed on.',
  properties: { type: { type: ['string', 'null'] }, role: { type: 'string' } },
  anyOf: [
    { not: isMessage },
    {
      required: ['role', 'content'],
      properties: { role: { enum: roles }, content: { type: ['string', 'array'] } },
    },
  ],
};

/** One of these has to say what is asked. */
const something: Schema = {
  anyOf: [
    {
      required: ['input'],
      properties: { input: { anyOf: [{ type: 'string' }, { type: 'array', minItems: 1 }] } },
    },
    ...['previous_response_id', 'prompt'].map((name) => ({
      required: [name],
      properties: { [name]: { not: { type: 'null' } } },
    })),
  ],
};

const conversation: Readonly<Record<string, Schema>> = {
  input: oneOf(
    'A text, or items: messages, calls and what they gave. Needed unless a response or a prompt is continued.',
    { type: 'string' },
    { type: 'array', items: ref('ResponseItem') },
  ),
  instructions: text('What stands before the conversation.'),
  previous_response_id: text('A stored response that this one continues.'),
  prompt: passed('A prompt that is kept at the vendor.'),
  conversation: {
    type: 'null',
    description: 'Conversations are not kept here: use `previous_response_id`.',
  },
  tools: list(
    'What the model may call.',
    asked(
      { type: text('`function`, or a tool of the vendor’s own.') },
      { name: passed('Of a function.') },
    ),
  ),
};

const request = asked(
  { model: text('Any chat model.', { minLength: 1 }) },
  {
    ...conversation,
    stream: flag('Events as they come.'),
    store: flag('Kept for 30 days, to be continued and asked for; `true` by default.'),
    background: flag('Answered at once and worked on afterwards; needs `store`.'),
    max_output_tokens: whole('Tokens that are written at most.', outputTokensLeast),
    max_tool_calls: whole('Calls of the vendor’s own tools.', 1),
    temperature: number('Sampling temperature.', 0, 2),
    top_p: number('Nucleus sampling.', 0, 1),
    top_logprobs: whole('Likeliest tokens told of each place.', 0, topLogprobsMax),
    parallel_tool_calls: flag('Whether several calls may come at once.'),
    tool_choice: passed('`auto`, `none`, `required`, or the tool that must be called.'),
    include: list('What else to tell.', { description: 'Such as `reasoning.encrypted_content`.' }),
    reasoning: anyObject('`effort` and `summary`.'),
    text: anyObject('`format`: text, or a schema of the answer.'),
    metadata: anyObject('Your own notes, kept with the response.'),
  },
);

const response = answered(
  {
    id: text('`resp_…`'),
    object: { type: 'string', const: 'response' },
    status: text('`completed`, `incomplete`, `failed`, `in_progress`, `queued` or `cancelled`.'),
    model: text('The model that was asked for.'),
    output: list('Messages, thoughts and calls, in their order.', { type: 'object' }),
  },
  {
    created_at: { type: 'number', description: 'Unix time, seconds.' },
    usage: anyObject('`input_tokens`, `output_tokens`, `total_tokens`, and their details.'),
    error: anyObject('What went wrong.'),
  },
);

const id = { response_id: 'A stored response of this account.' };

export const responsesOperations: Operations = {
  'POST /responses': {
    id: 'createResponse',
    tag: 'Responses',
    summary: 'Answer, and remember the answer',
    description:
      'Passed on where the vendor speaks this format, translated elsewhere. Responses are stored here, not at the vendor, and belong to the account.',
    schemas: {
      ResponseItem: item,
      ResponseRequest: { ...request, ...something },
      Response: response,
    },
    body: { 'application/json': ref('ResponseRequest') },
    answer: {
      'application/json': ref('Response'),
      'text/event-stream': text(
        'Numbered events, from `response.created` to `response.completed`.',
      ),
    },
    once: true,
  },
  'POST /responses/input_tokens': {
    id: 'countResponseTokens',
    tag: 'Responses',
    summary: 'Count the tokens of an input; free',
    schemas: {
      ResponseCountRequest: {
        ...asked({ model: text('Any chat model.', { minLength: 1 }) }, conversation),
        ...something,
      },
      ResponseTokenCount: answered({
        object: { type: 'string', const: 'response.input_tokens' },
        input_tokens: whole('As the vendor counts where it tells.', 0),
      }),
    },
    body: { 'application/json': ref('ResponseCountRequest') },
    answer: { 'application/json': ref('ResponseTokenCount') },
  },
  'POST /responses/compact': {
    id: 'compactResponse',
    tag: 'Responses',
    summary: 'Shorten a conversation',
    schemas: {
      CompactedResponse: answered({
        object: text('`response.compaction`'),
        output: list('What the user said, and one item in place of everything else.', {
          type: 'object',
        }),
      }),
    },
    body: { 'application/json': ref('ResponseCountRequest') },
    answer: { 'application/json': ref('CompactedResponse') },
  },
  'GET /responses/:id': {
    id: 'getResponse',
    tag: 'Responses',
    summary: 'A stored response',
    path: id,
    answer: { 'application/json': ref('Response') },
  },
  'DELETE /responses/:id': {
    id: 'deleteResponse',
    tag: 'Responses',
    summary: 'Forget a stored response',
    path: id,
    schemas: {
      Deleted: answered({
        id: text('What was deleted.'),
        object: text('Its kind.'),
        deleted: { type: 'boolean', const: true },
      }),
    },
    answer: { 'application/json': ref('Deleted') },
  },
  'POST /responses/:id/cancel': {
    id: 'cancelResponse',
    tag: 'Responses',
    summary: 'Cancel a response in the background',
    path: id,
    answer: { 'application/json': ref('Response') },
  },
  'GET /responses/:id/input_items': {
    id: 'listResponseInputs',
    tag: 'Responses',
    summary: 'What a stored response was asked',
    path: id,
    query: pageQuery(pageMax),
    schemas: { Page: pageOf({ type: 'object' }) },
    answer: { 'application/json': ref('Page') },
  },
};
