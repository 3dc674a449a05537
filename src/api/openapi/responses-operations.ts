import { responsesRoles, responsesOutputTokensMin, responsesTopLogprobsMax } from '../responses.ts';
import { storedResponsesPageMax } from '../responses-endpoints.ts';
import {
  type Operations,
  objectSchema,
  answerSchema,
  requestSchema,
  booleanSchema,
  arraySchema,
  numberSchema,
  oneOfSchema,
  pageSchema,
  pageQuery,
  forwardedSchema,
  schemaRef,
  type Schema,
  stringSchema,
  integerSchema,
} from './schema.ts';

const isMessage: Schema = {
  anyOf: [
    { required: ['role'], properties: { type: { type: 'null' } } },
    { required: ['type'], properties: { type: { const: 'message' } } },
  ],
};

/** An item with a role is a message, and has content. */
const item: Schema = {
  type: 'object',
  description:
    'A message, a call, what a call gave, a thought, …; types that are not known here are passed on.',
  properties: { type: { type: ['string', 'null'] }, role: { type: 'string' } },
  anyOf: [
    { not: isMessage },
    {
      required: ['role', 'content'],
      properties: { role: { enum: responsesRoles }, content: { type: ['string', 'array'] } },
    },
  ],
};

/** A request needs one of these members. */
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
  input: oneOfSchema(
    'A text, or items: messages, calls and what they gave. Needed unless a response or a prompt is continued.',
    { type: 'string' },
    { type: 'array', items: schemaRef('ResponseItem') },
  ),
  instructions: stringSchema('What stands before the conversation.'),
  previous_response_id: stringSchema('A stored response that this one continues.'),
  prompt: forwardedSchema('A prompt that is kept at the vendor.'),
  conversation: {
    type: 'null',
    description: 'Conversations are not kept here: use `previous_response_id`.',
  },
  tools: arraySchema(
    'What the model may call.',
    requestSchema(
      { type: stringSchema('`function`, or a tool of the vendor’s own.') },
      { name: forwardedSchema('Of a function.') },
    ),
  ),
};

const request = requestSchema(
  { model: stringSchema('Any chat model.', { minLength: 1 }) },
  {
    ...conversation,
    stream: booleanSchema('Events as they come.'),
    store: booleanSchema('Kept for 30 days, to be continued and asked for; `true` by default.'),
    background: booleanSchema('Answered at once and worked on afterwards; needs `store`.'),
    max_output_tokens: integerSchema('Tokens that are written at most.', responsesOutputTokensMin),
    max_tool_calls: integerSchema('Calls of the vendor’s own tools.', 1),
    temperature: numberSchema('Sampling temperature.', 0, 2),
    top_p: numberSchema('Nucleus sampling.', 0, 1),
    top_logprobs: integerSchema('Likeliest tokens told of each place.', 0, responsesTopLogprobsMax),
    parallel_tool_calls: booleanSchema('Whether several calls may come at once.'),
    tool_choice: forwardedSchema('`auto`, `none`, `required`, or the tool that must be called.'),
    include: arraySchema('What else to tell.', {
      description: 'Such as `reasoning.encrypted_content`.',
    }),
    reasoning: objectSchema('`effort` and `summary`.'),
    text: objectSchema('`format`: text, or a schema of the answer.'),
    metadata: objectSchema('Your own notes, kept with the response.'),
  },
);

const response = answerSchema(
  {
    id: stringSchema('`resp_…`'),
    object: { type: 'string', const: 'response' },
    status: stringSchema(
      '`completed`, `incomplete`, `failed`, `in_progress`, `queued` or `cancelled`.',
    ),
    model: stringSchema('The model that was asked for.'),
    output: arraySchema('Messages, thoughts and calls, in their order.', { type: 'object' }),
  },
  {
    created_at: { type: 'number', description: 'Unix time, seconds.' },
    usage: objectSchema('`input_tokens`, `output_tokens`, `total_tokens`, and their details.'),
    error: objectSchema('What went wrong.'),
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
    body: { 'application/json': schemaRef('ResponseRequest') },
    answer: {
      'application/json': schemaRef('Response'),
      'text/event-stream': stringSchema(
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
        ...requestSchema(
          { model: stringSchema('Any chat model.', { minLength: 1 }) },
          conversation,
        ),
        ...something,
      },
      ResponseTokenCount: answerSchema({
        object: { type: 'string', const: 'response.input_tokens' },
        input_tokens: integerSchema('As the vendor counts where it tells.', 0),
      }),
    },
    body: { 'application/json': schemaRef('ResponseCountRequest') },
    answer: { 'application/json': schemaRef('ResponseTokenCount') },
  },
  'POST /responses/compact': {
    id: 'compactResponse',
    tag: 'Responses',
    summary: 'Shorten a conversation',
    schemas: {
      CompactedResponse: answerSchema({
        object: stringSchema('`response.compaction`'),
        output: arraySchema('What the user said, and one item in place of everything else.', {
          type: 'object',
        }),
      }),
    },
    body: { 'application/json': schemaRef('ResponseCountRequest') },
    answer: { 'application/json': schemaRef('CompactedResponse') },
  },
  'GET /responses/:id': {
    id: 'getResponse',
    tag: 'Responses',
    summary: 'A stored response',
    path: id,
    answer: { 'application/json': schemaRef('Response') },
  },
  'DELETE /responses/:id': {
    id: 'deleteResponse',
    tag: 'Responses',
    summary: 'Forget a stored response',
    path: id,
    schemas: {
      Deleted: answerSchema({
        id: stringSchema('What was deleted.'),
        object: stringSchema('Its kind.'),
        deleted: { type: 'boolean', const: true },
      }),
    },
    answer: { 'application/json': schemaRef('Deleted') },
  },
  'POST /responses/:id/cancel': {
    id: 'cancelResponse',
    tag: 'Responses',
    summary: 'Cancel a response in the background',
    path: id,
    answer: { 'application/json': schemaRef('Response') },
  },
  'GET /responses/:id/input_items': {
    id: 'listResponseInputs',
    tag: 'Responses',
    summary: 'What a stored response was asked',
    path: id,
    query: pageQuery(storedResponsesPageMax),
    schemas: { Page: pageSchema({ type: 'object' }) },
    answer: { 'application/json': schemaRef('Page') },
  },
};
