import { messagesSchemas, tokenCountRequestSchema } from '../messages.ts';
import * as schema from '../schema.ts';

export const messagesOperations: schema.Operations = {
  'POST /messages': {
    id: 'createMessage',
    tag: 'Messages',
    summary: 'Create a message',
    description: 'For every chat model of every vendor. The key may come in `x-api-key`.',
    schemas: {
      ...messagesSchemas,
      Message: schema.answer(
        {
          id: schema.string('ID of this answer.'),
          type: { type: 'string', const: 'message' },
          role: { type: 'string', const: 'assistant' },
          model: schema.string('The requested model.'),
          content: schema.array('The content of the answer.', schema.ref('MessageBlock')),
          usage: schema.answer({
            input_tokens: schema.integer('Input tokens without cached ones.', 0),
            output_tokens: schema.integer('Output tokens.', 0),
          }),
        },
        {
          stop_reason: schema.string('`end_turn`, `max_tokens`, `tool_use`, `stop_sequence`, …'),
          stop_sequence: schema.string('The sequence that stopped the answer.'),
        },
      ),
    },
    body: { 'application/json': schema.ref('MessageRequest') },
    answer: {
      'application/json': schema.ref('Message'),
      'text/event-stream': schema.string(
        '`message_start`, blocks and their deltas, `message_delta`, `message_stop`.',
      ),
    },
    once: true,
  },
  'POST /messages/count_tokens': {
    id: 'countMessageTokens',
    tag: 'Messages',
    summary: 'Count the tokens of messages (not charged)',
    schemas: {
      MessageCountRequest: tokenCountRequestSchema,
      TokenCount: schema.answer({
        input_tokens: schema.integer('The vendor’s count if it has one, otherwise an estimate.', 0),
      }),
    },
    body: { 'application/json': schema.ref('MessageCountRequest') },
    answer: { 'application/json': schema.ref('TokenCount') },
  },
};
