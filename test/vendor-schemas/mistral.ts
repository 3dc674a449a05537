import {
  answeredCalls,
  format,
  functionTool,
  messages,
  named,
  penalties,
  stop,
  usual,
} from './chat-pieces.ts';
import {
  anything,
  either,
  type Endpoint,
  flag,
  list,
  map,
  number,
  object,
  objectsOf,
  one,
  refuses,
  rule,
  tagged,
  text,
  whole,
} from './shape.ts';

// Mistral's chat and vectors (mistral-openapi.yaml: ChatCompletionRequest and its messages forbid
// other members, with a 422 extra_forbidden).

const definition = 'mistral-openapi.yaml; BerriAI/litellm#30835';
const words = object({ type: anything, text: text() }, 'text');
const parts = {
  text: words,
  image_url: object(
    {
      type: anything,
      image_url: either(text(), object({ url: text(), detail: one('low', 'auto', 'high') }, 'url')),
    },
    'image_url',
  ),
  document_url: object(
    { type: anything, document_url: text(), document_name: text() },
    'document_url',
  ),
  reference: object({ type: anything, reference_ids: list(anything) }, 'reference_ids'),
  file: object({ type: anything, file_id: text() }, 'file_id'),
  thinking: object(
    {
      type: anything,
      thinking: list(tagged('type', { text: words, reference: anything })),
      closed: flag,
      signature: text(),
    },
    'thinking',
  ),
  input_audio: object({ type: anything, input_audio: either(text(), map()) }, 'input_audio'),
};

export const mistralChat: Endpoint = {
  path: /\/chat\/completions$/,
  source: definition,
  body: object(
    {
      ...usual,
      ...penalties,
      temperature: number(0, 1.5),
      messages: messages({
        roles: ['system', 'user', 'assistant', 'tool'],
        user: parts,
        system: { text: words, thinking: parts.thinking },
        assistantParts: parts,
        tool: parts,
        assistant: { prefix: flag },
        toolMembers: { name: text() },
        callId: text({ pattern: /^[a-zA-Z0-9]{9}$/ }),
        call: { index: whole(0) },
        callNeeds: ['function'],
      }),
      stop: stop(Infinity),
      random_seed: whole(0),
      metadata: map(),
      response_format: format('text', 'json_object', 'json_schema'),
      // Without its type, too: recorded mistral-0153, accepted.
      tools: list(
        tagged('type', { function: functionTool() }, object({ function: map() }, 'function')),
      ),
      tool_choice: either(one('auto', 'none', 'any', 'required'), named),
      n: whole(1),
      prediction: object({ type: one('content'), content: text() }, 'content'),
      parallel_tool_calls: flag,
      prompt_mode: one('reasoning'),
      reasoning_effort: one('high', 'none'),
      guardrails: list(map()),
      prompt_cache_key: text(),
      safe_prompt: flag,
    },
    'model',
    'messages',
  ),
  rules: [
    answeredCalls('Mistral: "Not the same number of function calls and responses"'),
    rule(
      'Mistral: "Expected last role User or Tool (or Assistant with prefix True)"; wire-formats §5.2',
      undefined,
      ({ body }) => {
        const last = objectsOf(body['messages']).at(-1);
        return last?.['role'] === 'system' ||
          (last?.['role'] === 'assistant' && last['prefix'] !== true)
          ? ['messages: the last one is neither a user’s nor a tool’s']
          : [];
      },
    ),
    refuses(
      /^(?!mistral-small-(?:latest|2603)|mistral-medium-(?:3|latest|26)|magistral|.*up)/,
      'vercel/ai packages/mistral, 2026-08-22: the small and medium models reason as asked',
      'reasoning_effort',
    ),
  ],
};

export const mistralVectors: Endpoint = {
  path: /\/embeddings$/,
  source: definition,
  body: object(
    {
      model: text({ min: 1 }),
      input: either(text(), list(text(), { min: 1 })),
      metadata: map(),
      output_dimension: whole(1),
      output_dtype: one('float', 'int8', 'uint8', 'binary', 'ubinary'),
      encoding_format: one('float', 'base64'),
    },
    'model',
    'input',
  ),
};
