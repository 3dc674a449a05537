import { storedResponsesPageMax } from '../responses-endpoints.ts';
import { inputCountRequestSchema, responsesSchemas } from '../responses.ts';
import * as schema from '../schema.ts';

const response = schema.answer(
  {
    id: schema.string('`resp_…`'),
    object: { type: 'string', const: 'response' },
    status: schema.string(
      '`completed`, `incomplete`, `failed`, `in_progress`, `queued` or `cancelled`.',
    ),
    model: schema.string('The model that was asked for.'),
    output: schema.array('Messages, thoughts and calls, in their order.', { type: 'object' }),
  },
  {
    created_at: { type: 'number', description: 'Unix time, seconds.' },
    usage: schema.object('`input_tokens`, `output_tokens`, `total_tokens`, and their details.'),
    error: schema.object('What went wrong.'),
  },
);

const id = { response_id: 'A stored response of this account.' };

export const responsesOperations: schema.Operations = {
  'POST /responses': {
    id: 'createResponse',
    tag: 'Responses',
    summary: 'Answer, and remember the answer',
    description:
      'Passed on where the vendor speaks this format, translated elsewhere. Responses are stored here, not at the vendor, and belong to the account.',
    schemas: {
      ...responsesSchemas,
      Response: response,
    },
    body: { 'application/json': schema.ref('ResponseRequest') },
    answer: {
      'application/json': schema.ref('Response'),
      'text/event-stream': schema.string(
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
      ResponseCountRequest: inputCountRequestSchema,
      ResponseTokenCount: schema.answer({
        object: { type: 'string', const: 'response.input_tokens' },
        input_tokens: schema.integer('As the vendor counts where it tells.', 0),
      }),
    },
    body: { 'application/json': schema.ref('ResponseCountRequest') },
    answer: { 'application/json': schema.ref('ResponseTokenCount') },
  },
  'POST /responses/compact': {
    id: 'compactResponse',
    tag: 'Responses',
    summary: 'Shorten a conversation',
    schemas: {
      CompactedResponse: schema.answer({
        object: schema.string('`response.compaction`'),
        output: schema.array('What the user said, and one item in place of everything else.', {
          type: 'object',
        }),
      }),
    },
    body: { 'application/json': schema.ref('ResponseCountRequest') },
    answer: { 'application/json': schema.ref('CompactedResponse') },
  },
  'GET /responses/:id': {
    id: 'getResponse',
    tag: 'Responses',
    summary: 'A stored response',
    path: id,
    answer: { 'application/json': schema.ref('Response') },
  },
  'DELETE /responses/:id': {
    id: 'deleteResponse',
    tag: 'Responses',
    summary: 'Forget a stored response',
    path: id,
    schemas: {
      Deleted: schema.answer({
        id: schema.string('What was deleted.'),
        object: schema.string('Its kind.'),
        deleted: { type: 'boolean', const: true },
      }),
    },
    answer: { 'application/json': schema.ref('Deleted') },
  },
  'POST /responses/:id/cancel': {
    id: 'cancelResponse',
    tag: 'Responses',
    summary: 'Cancel a response in the background',
    path: id,
    answer: { 'application/json': schema.ref('Response') },
  },
  'GET /responses/:id/input_items': {
    id: 'listResponseInputs',
    tag: 'Responses',
    summary: 'What a stored response was asked',
    path: id,
    query: schema.pageQuery(storedResponsesPageMax),
    schemas: { Page: schema.page({ type: 'object' }) },
    answer: { 'application/json': schema.ref('Page') },
  },
};
