import { messagesSchemas, tokenCountRequestSchema } from '../messages.ts';
import {
  type Operations,
  answerSchema,
  arraySchema,
  schemaRef,
  stringSchema,
  integerSchema,
} from './schema.ts';

export const messagesOperations: Operations = {
  'POST /messages': {
    id: 'createMessage',
    tag: 'Messages',
    summary: 'Answer a conversation, in the format of messages',
    description: 'Every chat model, whoever makes it. The key may come in `x-api-key`.',
    schemas: {
      ...messagesSchemas,
      Message: answerSchema(
        {
          id: stringSchema('Names this answer.'),
          type: { type: 'string', const: 'message' },
          role: { type: 'string', const: 'assistant' },
          model: stringSchema('The model that was asked for.'),
          content: arraySchema('What was said.', schemaRef('MessageBlock')),
          usage: answerSchema({
            input_tokens: integerSchema('Tokens that were read, cached ones apart.', 0),
            output_tokens: integerSchema('Tokens that were written.', 0),
          }),
        },
        {
          stop_reason: stringSchema('`end_turn`, `max_tokens`, `tool_use`, `stop_sequence`, …'),
          stop_sequence: stringSchema('Which.'),
        },
      ),
    },
    body: { 'application/json': schemaRef('MessageRequest') },
    answer: {
      'application/json': schemaRef('Message'),
      'text/event-stream': stringSchema(
        '`message_start`, blocks and their deltas, `message_delta`, `message_stop`.',
      ),
    },
    once: true,
  },
  'POST /messages/count_tokens': {
    id: 'countMessageTokens',
    tag: 'Messages',
    summary: 'Count the tokens of a conversation; free',
    schemas: {
      MessageCountRequest: tokenCountRequestSchema,
      TokenCount: answerSchema({
        input_tokens: integerSchema(
          'As the vendor counts where it tells, else an estimate of ours.',
          0,
        ),
      }),
    },
    body: { 'application/json': schemaRef('MessageCountRequest') },
    answer: { 'application/json': schemaRef('TokenCount') },
  },
};
