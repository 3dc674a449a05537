import type { Json } from './recordings.ts';

/** One family of endpoints: valid requests, and the other documented members. */
export interface Family {
  readonly name: string;
  readonly path: string;
  readonly kind: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Without the model. The test breaks each place of each body; the first body is the plain one.
   */
  readonly body: readonly Json[];
  readonly members: readonly string[];
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);
const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const pixelBytes = pixel.slice(pixel.indexOf(',') + 1);
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

const chat = [
  { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 50 },
  {
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url: pixel, detail: 'low' } },
        ],
        name: 'a',
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: 'call_1',
            type: 'function',
            function: { name: 'weather', arguments: '{"city":"Paris"}' },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'Rain.' },
    ],
    tools: [
      {
        type: 'function',
        function: {
          name: 'weather',
          description: 'The weather.',
          parameters: schema,
          strict: false,
        },
      },
    ],
    tool_choice: { type: 'function', function: { name: 'weather' } },
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
    stop: ['x'],
    stream_options: { include_usage: true },
    stream: true,
    logit_bias: { 7: 1 },
    metadata: { a: 'b' },
  },
];

const messages = [
  { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 50 },
  {
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixelBytes } },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Paris' } }],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            content: [{ type: 'text', text: 'Rain.' }],
            is_error: false,
          },
        ],
      },
    ],
    tools: [{ name: 'weather', description: 'The weather.', input_schema: schema }],
    tool_choice: { type: 'tool', name: 'weather', disable_parallel_tool_use: true },
    max_tokens: 50,
    stop_sequences: ['x'],
    metadata: { user_id: 'a' },
  },
];

const responses = [
  { input: 'Hello', max_output_tokens: 50 },
  {
    instructions: 'Be brief.',
    input: [
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'What is it?' },
          { type: 'input_image', image_url: pixel, detail: 'low' },
        ],
      },
      { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Paris"}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'Rain.' },
    ],
    tools: [
      {
        type: 'function',
        name: 'weather',
        description: 'The weather.',
        parameters: schema,
        strict: false,
      },
    ],
    tool_choice: { type: 'function', name: 'weather' },
    text: {
      format: { type: 'json_schema', name: 'answer', schema, strict: true },
      verbosity: 'low',
    },
    reasoning: { effort: 'low', summary: 'auto' },
    include: ['reasoning.encrypted_content'],
    metadata: { a: 'b' },
  },
];

export const bodies: readonly Family[] = [
  {
    name: 'chat',
    path: '/v1/chat/completions',
    kind: 'chat',
    body: chat,
    members:
      words(`messages max_completion_tokens temperature top_p n stop stream stream_options tools tool_choice parallel_tool_calls response_format reasoning_effort
      presence_penalty frequency_penalty logit_bias logprobs top_logprobs seed user metadata store service_tier modalities audio prediction functions function_call
      web_search_options prompt_cache_key safety_identifier verbosity top_k thinking x`),
  },
  {
    name: 'responses',
    path: '/v1/responses',
    kind: 'chat',
    body: responses,
    members:
      words(`input instructions max_output_tokens temperature top_p stream stream_options tools tool_choice parallel_tool_calls text reasoning previous_response_id
      store background include truncation metadata user service_tier max_tool_calls top_logprobs conversation prompt safety_identifier prompt_cache_key x`),
  },
  {
    name: 'messages',
    path: '/v1/messages',
    kind: 'chat',
    headers: { 'anthropic-version': '2023-06-01' },
    body: messages,
    members:
      words(`messages system max_tokens temperature top_p top_k stop_sequences stream tools tool_choice thinking metadata service_tier container mcp_servers
      output_config context_management inference_geo speed x`),
  },
  {
    name: 'count',
    path: '/v1/messages/count_tokens',
    kind: 'chat',
    body: messages.slice(0, 1),
    members: words('system tools thinking tool_choice x'),
  },
  {
    name: 'input tokens',
    path: '/v1/responses/input_tokens',
    kind: 'chat',
    body: responses.slice(0, 1),
    members: words('instructions tools text x'),
  },
  {
    name: 'compact',
    path: '/v1/responses/compact',
    kind: 'chat',
    body: responses.slice(0, 1),
    members: words('instructions previous_response_id x'),
  },
  {
    name: 'completions',
    path: '/v1/completions',
    kind: 'completion',
    body: [
      { prompt: 'Hello', max_tokens: 50 },
      {
        prompt: ['a', 'b'],
        stop: ['x'],
        logit_bias: { 7: 1 },
        stream: true,
        stream_options: { include_usage: true },
      },
    ],
    members: words(
      'prompt max_tokens temperature top_p n best_of stop stream stream_options suffix echo logprobs seed user presence_penalty frequency_penalty logit_bias x',
    ),
  },
  {
    name: 'embeddings',
    path: '/v1/embeddings',
    kind: 'embedding',
    body: [
      { input: 'Hello' },
      { input: ['a', 'b'], dimensions: 256, encoding_format: 'float', user: 'a' },
      { input: [[1, 2], [3]] },
    ],
    members: words('input dimensions encoding_format user input_type task truncate x'),
  },
  {
    name: 'moderations',
    path: '/v1/moderations',
    kind: 'moderation',
    body: [
      { input: 'Hello' },
      {
        input: [
          { type: 'text', text: 'a' },
          { type: 'image_url', image_url: { url: pixel } },
        ],
      },
    ],
    members: words('input user stream metadata x'),
  },
  {
    name: 'rerank',
    path: '/v1/rerank',
    kind: 'rerank',
    body: [
      { query: 'Hello', documents: ['a', 'b'] },
      { query: 'Hello', documents: [{ text: 'a' }], top_n: 1, return_documents: true },
    ],
    members: words('query documents top_n return_documents max_tokens_per_doc rank_fields x'),
  },
  {
    name: 'images',
    path: '/v1/images/generations',
    kind: 'image',
    body: [
      { prompt: 'a cat' },
      {
        prompt: 'a cat',
        n: 1,
        size: '1024x1024',
        quality: 'low',
        response_format: 'b64_json',
        user: 'a',
      },
    ],
    members: words(
      'prompt n size quality response_format style background moderation output_format output_compression partial_images stream user seed negative_prompt x',
    ),
  },
  {
    name: 'image edits',
    path: '/v1/images/edits',
    kind: 'image',
    body: [
      { prompt: 'a cat', images: [{ image_url: pixel }] },
      { prompt: 'a cat', image: pixel, mask: pixel, n: 1, size: '1024x1024' },
    ],
    members: words('prompt n size images image mask input_fidelity x'),
  },
  {
    name: 'speech',
    path: '/v1/audio/speech',
    kind: 'speech',
    body: [
      { input: 'Hello', voice: 'alloy' },
      {
        input: 'Hello',
        voice: 'alloy',
        response_format: 'wav',
        speed: 1,
        instructions: 'slowly',
        stream_format: 'audio',
      },
    ],
    members: words('input voice response_format speed instructions stream_format x'),
  },
  {
    name: 'video',
    path: '/v1/video/generations',
    kind: 'video',
    body: [
      { prompt: 'a cat', async: true, seconds: 5 },
      {
        prompt: 'a cat',
        async: true,
        duration: 5,
        size: '1280x720',
        image: pixel,
        resolution: '720p',
        aspect_ratio: '16:9',
        audio: false,
        seed: 7,
      },
    ],
    members: words(
      'prompt seconds duration size image images resolution aspect_ratio audio seed negative_prompt n user x',
    ),
  },
  {
    name: 'videos',
    path: '/v1/videos',
    kind: 'video',
    body: [{ prompt: 'a cat', seconds: '4', size: '1280x720' }],
    members: words('prompt seconds size input_reference x'),
  },
];
