import { messagesSchemas, tokenCountRequestSchema } from '../messages.ts';
import * as schema from '../schema.ts';

/**
 * Not the block of a request: `/docs` takes a schema for wrong that request and answer share
 * (@scalar/api-reference 1.44.26).
 */
const answerBlock = schema.answer(
  { type: schema.string('`text`, `thinking`, `tool_use`, …') },
  {
    text: schema.string('Text of a `text` block.'),
    thinking: schema.string('Reasoning, in a `thinking` block.'),
    id: schema.string('ID of the tool call, in a `tool_use` block.'),
    name: schema.string('Name of the tool to run.'),
    input: schema.object('Input of the tool.'),
  },
);

export const messagesOperations: schema.Operations = {
  'POST /messages': {
    id: 'createMessage',
    tag: 'Messages',
    convention: 'messages',
    calls: 'chat',
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
          content: schema.array('The content of the answer.', answerBlock),
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
  },
  'POST /messages/count_tokens': {
    id: 'countMessageTokens',
    tag: 'Messages',
    convention: 'messages',
    calls: 'count',
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
