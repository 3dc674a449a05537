import { roles } from '../messages-content.ts';
import { toolChoices } from '../messages-endpoint.ts';
import type { Operations } from './operation.ts';
import {
  anyObject,
  answered,
  asked,
  flag,
  list,
  number,
  oneOf,
  passed,
  ref,
  type Schema,
  text,
  whole,
  word,
} from './schema.ts';

const block = asked(
  {
    type: text(
      '`text`, `image`, `document`, `tool_use`, `tool_result`, `thinking`, …; others are passed on.',
    ),
  },
  {
    text: passed('Of a `text` block.'),
    source: passed('Of an image or a document: base64, or an address.'),
  },
);

const content = (description: string) =>
  oneOf(description, { type: 'string' }, { type: 'array', items: ref('MessageBlock') });

const question: Readonly<Record<string, Schema>> = {
  model: text('Any chat model, whoever makes it.', { minLength: 1 }),
  messages: list('The conversation, oldest first.', ref('MessageTurn'), { minItems: 1 }),
};

const around: Readonly<Record<string, Schema>> = {
  system: content('Instructions that stand before the conversation.'),
  tools: list(
    'What the model may call: `{"name", "description", "input_schema"}`, or a tool of the vendor’s own by its `type`.',
    {
      anyOf: [
        asked(
          { name: text('What it is called.'), input_schema: anyObject('What it takes.') },
          { type: word('Or none.', ['custom']) },
        ),
        {
          type: 'object',
          required: ['type'],
          properties: { type: { type: 'string', not: { const: 'custom' } } },
        },
      ],
    },
  ),
  tool_choice: asked(
    { type: word('Whether a tool is called.', toolChoices) },
    { name: passed('Which, where it is `tool`.') },
  ),
  thinking: asked(
    { type: text('`enabled`, `adaptive` or `disabled`.') },
    { budget_tokens: passed('Tokens to think in.') },
  ),
  output_config: anyObject('Effort, and the schema of the answer.'),
};

/** Older LangChain sends it with every request. */
const off = whole('Not set: it is left out, and named in `x-tollgate-dropped`.', -1, -1);

export const messagesOperations: Operations = {
  'POST /messages': {
    id: 'createMessage',
    tag: 'Messages',
    summary: 'Answer a conversation, in the format of messages',
    description: 'Every chat model, whoever makes it. The key may come in `x-api-key`.',
    schemas: {
      MessageBlock: block,
      MessageTurn: asked({
        role: word('Who speaks.', roles),
        content: content('What is said: a text, or blocks.'),
      }),
      MessageRequest: asked(
        { ...question, max_tokens: whole('Tokens that are written at most.', 0) },
        {
          ...around,
          stream: flag('Events as they come.'),
          temperature: number('Sampling temperature.', 0, 1),
          top_p: oneOf('Nucleus sampling.', number('The share.', 0, 1), off),
          top_k: oneOf('How many tokens are considered.', whole('So many.', 0), off),
          stop_sequences: list('Where the model stops.', { type: 'string' }),
          metadata: anyObject('`user_id`: your name for your user.'),
        },
      ),
      Message: answered(
        {
          id: text('Names this answer.'),
          type: { type: 'string', const: 'message' },
          role: { type: 'string', const: 'assistant' },
          model: text('The model that was asked for.'),
          content: list('What was said.', ref('MessageBlock')),
          usage: answered({
            input_tokens: whole('Tokens that were read, cached ones apart.', 0),
            output_tokens: whole('Tokens that were written.', 0),
          }),
        },
        {
          stop_reason: text('`end_turn`, `max_tokens`, `tool_use`, `stop_sequence`, …'),
          stop_sequence: text('Which.'),
        },
      ),
    },
    body: { 'application/json': ref('MessageRequest') },
    answer: {
      'application/json': ref('Message'),
      'text/event-stream': text(
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
      MessageCountRequest: asked(question, around),
      TokenCount: answered({
        input_tokens: whole('As the vendor counts where it tells, else an estimate of ours.', 0),
      }),
    },
    body: { 'application/json': ref('MessageCountRequest') },
    answer: { 'application/json': ref('TokenCount') },
  },
};
