import { messagesRoles, toolChoices } from '../messages.ts';
import {
  type Operations,
  objectSchema,
  answerSchema,
  requestSchema,
  booleanSchema,
  arraySchema,
  numberSchema,
  oneOfSchema,
  forwardedSchema,
  schemaRef,
  type Schema,
  stringSchema,
  integerSchema,
  enumSchema,
} from './schema.ts';

const block = requestSchema(
  {
    type: stringSchema(
      '`text`, `image`, `document`, `tool_use`, `tool_result`, `thinking`, …; others are passed on.',
    ),
  },
  {
    text: forwardedSchema('Of a `text` block.'),
    source: forwardedSchema('Of an image or a document: base64, or an address.'),
  },
);

const content = (description: string) =>
  oneOfSchema(description, { type: 'string' }, { type: 'array', items: schemaRef('MessageBlock') });

const question: Readonly<Record<string, Schema>> = {
  model: stringSchema('Any chat model, whoever makes it.', { minLength: 1 }),
  messages: arraySchema('The conversation, oldest first.', schemaRef('MessageTurn'), {
    minItems: 1,
  }),
};

const around: Readonly<Record<string, Schema>> = {
  system: content('Instructions that stand before the conversation.'),
  tools: arraySchema(
    'What the model may call: `{"name", "description", "input_schema"}`, or a tool of the vendor’s own by its `type`.',
    {
      anyOf: [
        requestSchema(
          {
            name: stringSchema('What it is called.'),
            input_schema: objectSchema('What it takes.'),
          },
          { type: enumSchema('Or none.', ['custom']) },
        ),
        {
          type: 'object',
          required: ['type'],
          properties: { type: { type: 'string', not: { const: 'custom' } } },
        },
      ],
    },
  ),
  tool_choice: requestSchema(
    { type: enumSchema('Whether a tool is called.', toolChoices) },
    { name: forwardedSchema('Which, where it is `tool`.') },
  ),
  thinking: requestSchema(
    { type: stringSchema('`enabled`, `adaptive` or `disabled`.') },
    { budget_tokens: forwardedSchema('Tokens to think in.') },
  ),
  output_config: objectSchema('Effort, and the schema of the answer.'),
};

/** Older LangChain sends it with every request. */
const off = integerSchema('Not set: it is left out, and named in `x-tollgate-dropped`.', -1, -1);

export const messagesOperations: Operations = {
  'POST /messages': {
    id: 'createMessage',
    tag: 'Messages',
    summary: 'Answer a conversation, in the format of messages',
    description: 'Every chat model, whoever makes it. The key may come in `x-api-key`.',
    schemas: {
      MessageBlock: block,
      MessageTurn: requestSchema({
        role: enumSchema('Who speaks.', messagesRoles),
        content: content('What is said: a text, or blocks.'),
      }),
      MessageRequest: requestSchema(
        { ...question, max_tokens: integerSchema('Tokens that are written at most.', 0) },
        {
          ...around,
          stream: booleanSchema('Events as they come.'),
          temperature: numberSchema('Sampling temperature.', 0, 1),
          top_p: oneOfSchema('Nucleus sampling.', numberSchema('The share.', 0, 1), off),
          top_k: oneOfSchema('How many tokens are considered.', integerSchema('So many.', 0), off),
          stop_sequences: arraySchema('Where the model stops.', { type: 'string' }),
          metadata: objectSchema('`user_id`: your name for your user.'),
        },
      ),
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
      MessageCountRequest: requestSchema(question, around),
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
