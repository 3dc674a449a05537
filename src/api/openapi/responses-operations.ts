import { sequenceNumberMax, storedResponsesPageMax } from '../responses-endpoints.ts';
import { inputCountRequestSchema, responsesSchemas } from '../responses.ts';
import * as schema from '../schema.ts';

const response = schema.answer(
  {
    id: schema.string('`resp_…`'),
    object: { type: 'string', const: 'response' },
    status: schema.string(
      '`completed`, `incomplete`, `failed`, `in_progress`, `queued` or `cancelled`.',
    ),
    model: schema.string('The requested model.'),
    output: schema.array('Messages, reasoning and tool calls in order.', { type: 'object' }),
  },
  {
    created_at: { type: 'number', description: 'Unix time in seconds.' },
    usage: schema.object('`input_tokens`, `output_tokens`, `total_tokens`, and their details.'),
    error: schema.object('The error.'),
  },
);

const id = { response_id: 'A stored response of this account.' };

export const responsesOperations: schema.Operations = {
  'POST /responses': {
    id: 'createResponse',
    tag: 'Responses',
    calls: 'chat',
    also: ['previous_response_not_found'],
    summary: 'Create a response',
    description:
      'The gateway forwards the request if the vendor uses this format, and translates it otherwise. It stores responses itself, not at the vendor. They belong to the account.',
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
  },
  'POST /responses/input_tokens': {
    id: 'countResponseTokens',
    tag: 'Responses',
    calls: 'count',
    also: ['previous_response_not_found'],
    summary: 'Count the tokens of an input (not charged)',
    schemas: {
      ResponseCountRequest: inputCountRequestSchema,
      ResponseTokenCount: schema.answer({
        object: { type: 'string', const: 'response.input_tokens' },
        input_tokens: schema.integer('The vendor’s count if it has one, otherwise an estimate.', 0),
      }),
    },
    body: { 'application/json': schema.ref('ResponseCountRequest') },
    answer: { 'application/json': schema.ref('ResponseTokenCount') },
  },
  'POST /responses/compact': {
    id: 'compactResponse',
    tag: 'Responses',
    calls: 'chat',
    also: ['previous_response_not_found'],
    summary: 'Compact a conversation',
    schemas: {
      CompactedResponse: schema.answer({
        object: schema.string('`response.compaction`'),
        output: schema.array('The user’s messages, and one item that replaces everything else.', {
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
    also: ['response_not_found'],
    summary: 'Get a stored response',
    path: id,
    query: {
      stream: schema.boolean(
        'Whether to stream the events of a response that was created with `background` and `stream`: those so far, and those to come. Whoever has lost the connection reads on.',
      ),
      starting_after: schema.integer(
        'The `sequence_number` of the last event that you have; default: none.',
        0,
        sequenceNumberMax,
      ),
    },
    answer: {
      'application/json': schema.ref('Response'),
      'text/event-stream': schema.string('Numbered events, up to the end of the response.'),
    },
  },
  'DELETE /responses/:id': {
    id: 'deleteResponse',
    tag: 'Responses',
    also: ['response_not_found'],
    summary: 'Delete a stored response',
    path: id,
    schemas: {
      Deleted: schema.answer({
        id: schema.string('ID of the deleted object.'),
        object: schema.string('Type of the deleted object.'),
        deleted: { type: 'boolean', const: true },
      }),
    },
    answer: { 'application/json': schema.ref('Deleted') },
  },
  'POST /responses/:id/cancel': {
    id: 'cancelResponse',
    tag: 'Responses',
    also: ['response_not_found', 'invalid_value'],
    summary: 'Cancel a background response',
    path: id,
    answer: { 'application/json': schema.ref('Response') },
  },
  'GET /responses/:id/input_items': {
    id: 'listResponseInputs',
    tag: 'Responses',
    also: ['response_not_found'],
    summary: 'List the input items of a stored response',
    path: id,
    query: schema.pageQuery(storedResponsesPageMax),
    schemas: { Page: schema.page({ type: 'object' }) },
    answer: { 'application/json': schema.ref('Page') },
  },
};
