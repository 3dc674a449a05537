import { messagesSchemas, tokenCountRequestSchema } from '../messages.ts';
import * as schema from '../schema.ts';

export const messagesOperations: schema.Operations = {
  'POST /messages': {
    id: 'createMessage',
    tag: 'Messages',
    summary: 'Answer a conversation, in the format of messages',
    description: 'Every chat model, whoever makes it. The key may come in `x-api-key`.',
    schemas: {
      ...messagesSchemas,
      Message: schema.answer(
        {
          id: schema.string('Names this answer.'),
          type: { type: 'string', const: 'message' },
          role: { type: 'string', const: 'assistant' },
          model: schema.string('The model that was asked for.'),
          content: schema.array('What was said.', schema.ref('MessageBlock')),
          usage: schema.answer({
            input_tokens: schema.integer('Tokens that were read, cached ones apart.', 0),
            output_tokens: schema.integer('Tokens that were written.', 0),
          }),
        },
        {
          stop_reason: schema.string('`end_turn`, `max_tokens`, `tool_use`, `stop_sequence`, …'),
          stop_sequence: schema.string('Which.'),
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
    summary: 'Count the tokens of a conversation; free',
    schemas: {
      MessageCountRequest: tokenCountRequestSchema,
      TokenCount: schema.answer({
        input_tokens: schema.integer(
          'As the vendor counts where it tells, else an estimate of ours.',
          0,
        ),
      }),
    },
    body: { 'application/json': schema.ref('MessageCountRequest') },
    answer: { 'application/json': schema.ref('TokenCount') },
  },
};
