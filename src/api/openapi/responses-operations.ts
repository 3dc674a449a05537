import { storedResponsesPageMax } from '../responses-endpoints.ts';
import { inputCountRequestSchema, responsesSchemas } from '../responses.ts';
import {
  type Operations,
  objectSchema,
  answerSchema,
  arraySchema,
  pageSchema,
  pageQuery,
  schemaRef,
  stringSchema,
  integerSchema,
} from './schema.ts';

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
      ...responsesSchemas,
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
      ResponseCountRequest: inputCountRequestSchema,
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
