import { answeredCalls } from './chat-pieces.ts';
import {
  anything,
  either,
  type Endpoint,
  flag,
  list,
  map,
  number,
  object,
  one,
  rule,
  strings,
  tagged,
  text,
  whole,
} from './shape.ts';

// Cohere's chat, second version, and its vectors (cohere-openapi.yaml).

const definition = 'cohere-openapi.yaml';
const words = object({ type: anything, text: text() }, 'text');

const message = tagged('role', {
  system: object(
    { role: anything, content: either(text(), list(tagged('type', { text: words }))) },
    'content',
  ),
  user: object(
    {
      role: anything,
      content: either(
        text(),
        list(
          tagged('type', {
            text: words,
            image_url: object(
              {
                type: anything,
                image_url: object({ url: text(), detail: one('auto', 'low', 'high') }, 'url'),
              },
              'image_url',
            ),
          }),
        ),
      ),
    },
    'content',
  ),
  assistant: object({
    role: anything,
    content: either(
      text(),
      list(
        tagged('type', {
          text: words,
          thinking: object({ type: anything, thinking: text() }, 'thinking'),
        }),
      ),
    ),
    tool_calls: list(
      object(
        {
          id: text({ min: 1 }),
          type: one('function'),
          function: object({ name: text(), arguments: text() }, 'name', 'arguments'),
        },
        'id',
        'type',
        'function',
      ),
    ),
    tool_plan: text(),
    citations: list(map()),
  }),
  tool: object(
    {
      role: anything,
      tool_call_id: text({ min: 1 }),
      content: either(
        text(),
        list(
          tagged('type', {
            text: words,
            document: object(
              {
                type: anything,
                document: object({ data: either(text(), map()), id: text() }, 'data'),
              },
              'document',
            ),
          }),
        ),
      ),
    },
    'tool_call_id',
    'content',
  ),
});

export const cohereChat: Endpoint = {
  path: /\/v2\/chat$|^\/chat$/,
  source: definition,
  body: object(
    {
      stream: flag,
      model: text({ min: 1 }),
      messages: list(message, { min: 1 }),
      tools: list(
        object(
          {
            type: one('function'),
            function: object(
              { name: text({ pattern: /^[\w-]+$/ }), description: text(), parameters: map() },
              'name',
              'parameters',
            ),
          },
          'type',
        ),
      ),
      strict_tools: flag,
      documents: list(either(text(), object({ data: map(), id: text() }, 'data'))),
      citation_options: object({ mode: one('ENABLED', 'DISABLED', 'FAST', 'ACCURATE', 'OFF') }),
      response_format: object({ type: one('text', 'json_object'), json_schema: map() }, 'type'),
      safety_mode: one('CONTEXTUAL', 'STRICT', 'OFF', 'NONE'),
      max_tokens: whole(1),
      stop_sequences: strings(5),
      temperature: number(0, 1),
      seed: whole(0),
      frequency_penalty: number(0, 1),
      presence_penalty: number(0, 1),
      k: whole(0, 500),
      p: number(0.01, 0.99),
      logprobs: flag,
      tool_choice: one('REQUIRED', 'NONE'),
      thinking: object({ type: one('enabled', 'disabled'), token_budget: whole(1) }, 'type'),
      priority: whole(0, 999),
    },
    'model',
    'messages',
  ),
  rules: [
    answeredCalls(definition),
    rule(
      'docs.cohere.com/reference/chat: JSON mode is not beside tools and documents',
      undefined,
      ({ body }) =>
        (body['response_format'] as { type?: unknown } | undefined)?.type === 'json_object' &&
        (body['tools'] !== undefined || body['documents'] !== undefined)
          ? ['response_format: no JSON beside tools or documents']
          : [],
    ),
    rule(
      'docs.cohere.com/docs/reasoning, 2026: command-a-reasoning and later',
      /command-(?:r|a-03|a-vision|a-translate|light|nightly|$)/,
      ({ body }) =>
        (body['thinking'] as { type?: unknown } | undefined)?.type === 'enabled'
          ? ['thinking: this model does not reason']
          : [],
    ),
  ],
};

export const cohereVectors: Endpoint = {
  path: /\/v2\/embed$|^\/embed$/,
  source: definition,
  body: object(
    {
      texts: strings(96),
      images: strings(1),
      model: text({ min: 1 }),
      input_type: one('search_document', 'search_query', 'classification', 'clustering', 'image'),
      inputs: list(map(), { max: 96 }),
      max_tokens: whole(1),
      output_dimension: one(256, 512, 1024, 1536),
      embedding_types: list(one('float', 'int8', 'uint8', 'binary', 'ubinary', 'base64')),
      truncate: one('NONE', 'START', 'END'),
      priority: whole(0, 999),
    },
    'model',
    'input_type',
  ),
};
