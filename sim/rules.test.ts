import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask, prompt } from './test-client.ts';
import { type Sim, startSim } from './index.ts';
import type { Json } from './json.ts';
import { vendors } from './vendors.ts';

let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
afterAll(() => sim.close());

const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
const imageTurn = [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] }];
const tool = {
  type: 'function',
  function: { name: 'ping', parameters: { type: 'object', properties: {} } },
};
const call = (id: string) => ({
  role: 'assistant',
  content: '',
  tool_calls: [{ id, type: 'function', function: { name: 'ping', arguments: '{}' } }],
});
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'pong' });
const hi = prompt('Hi');
const user = hi[0];

/** Vendor, request (hello by default), status, and the body's content. */
const refusals: readonly (readonly [string, Json, number, Json | RegExp])[] = [
  [
    'openai',
    { model: 'gpt-5', max_tokens: 5 },
    400,
    {
      error: { param: 'max_tokens', code: 'unsupported_parameter', type: 'invalid_request_error' },
    },
  ],
  [
    'openai',
    { model: 'gpt-5', temperature: 0.5 },
    400,
    { error: { param: 'temperature', code: 'unsupported_value' } },
  ],
  [
    'openai',
    { model: 'gpt-5-mini', stop: ['x'] },
    400,
    { error: { param: 'stop', code: 'unsupported_parameter' } },
  ],
  [
    'openai',
    { model: 'gpt-5.4', tools: [tool] },
    400,
    { error: { param: 'reasoning_effort', code: null } },
  ],
  [
    'openai',
    { model: 'gpt-4o', foo: 1 },
    400,
    { error: { message: 'Unrecognized request argument supplied: foo', param: null } },
  ],
  [
    'openai',
    { model: 'gpt-4o', messages: [] },
    400,
    { error: { code: 'empty_array', param: 'messages' } },
  ],
  [
    'openai',
    { model: 'gpt-4o', messages: [{ role: 'wizard', content: 'x' }] },
    400,
    { error: { code: 'invalid_value', param: 'messages[0].role' } },
  ],
  [
    'openai',
    { model: 'gpt-4o', messages: [user, call('call_1'), user] },
    400,
    /did not have response messages: call_1/,
  ],
  [
    'openai',
    { model: 'gpt-4o', messages: [user, result('call_1')] },
    400,
    /must be a response to a preceeding message/,
  ],
  [
    'openai',
    { model: 'gpt-4o', stream_options: { include_usage: true } },
    400,
    { error: { param: 'stream_options' } },
  ],
  ['openai', { model: 'gpt-4o', top_logprobs: 2 }, 400, { error: { param: 'top_logprobs' } }],
  [
    'openai',
    { model: 'gpt-4o', temperature: 'hot' },
    400,
    {
      error: {
        code: 'invalid_type',
        message: "Invalid type for 'temperature': expected a decimal, but got a string instead.",
      },
    },
  ],
  [
    'openai',
    { model: 'gpt-4o', n: 0 },
    400,
    { error: { code: 'integer_below_min_value', param: 'n' } },
  ],
  [
    'openai',
    { model: 'gpt-4o', response_format: { type: 'json_object' } },
    400,
    /must contain the word 'json'/,
  ],
  [
    'openai',
    {
      model: 'gpt-4o',
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'x', strict: true, schema: { type: 'object', properties: {} } },
      },
    },
    400,
    /'additionalProperties' is required/,
  ],
  [
    'openai',
    { model: 'gpt-4o', tools: [{ type: 'function', function: { name: 'a b' } }] },
    400,
    { error: { param: 'tools[0].function.name' } },
  ],
  ['openai', { model: 'gpt-4o', tool_choice: 'auto' }, 400, { error: { param: 'tool_choice' } }],
  [
    'openai',
    { model: 'gpt-3.5-turbo', messages: imageTurn },
    400,
    /image_url is only supported by certain models/,
  ],
  [
    'openai',
    {
      model: 'gpt-4o',
      messages: [
        {
          role: 'user',
          content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=' } }],
        },
      ],
    },
    400,
    { error: { code: 'invalid_image_format' } },
  ],
  ['openai', { model: 'gpt-3.5-turbo-instruct' }, 404, { error: { param: 'model', code: null } }],
  ['azure', { model: 'nonexistent' }, 404, { error: { code: 'DeploymentNotFound' } }],
  [
    'azure',
    { model: 'sim-policy' },
    400,
    {
      error: {
        code: 'content_filter',
        innererror: { code: 'ResponsibleAIPolicyViolation' },
        param: 'prompt',
        status: 400,
      },
    },
  ],
  [
    'deepseek',
    { model: 'deepseek-chat', messages: imageTurn },
    400,
    /unknown variant `image_url`, expected `text`/,
  ],
  ['deepseek', { model: 'deepseek-chat', n: 2 }, 400, /only n = 1/],
  [
    'deepseek',
    {
      model: 'deepseek-chat',
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema: {} } },
    },
    400,
    /response_format type is unavailable/,
  ],
  [
    'deepseek',
    { model: 'deepseek-reasoner', tools: [tool], tool_choice: 'required' },
    400,
    { error: { message: 'Thinking mode does not support this tool_choice' } },
  ],
  [
    'deepseek',
    { model: 'deepseek-v4-pro', messages: [user, call('c'), result('c')] },
    400,
    /Missing `reasoning_content`/,
  ],
  [
    'deepseek',
    { model: 'deepseek-nonexistent' },
    400,
    { error: { type: 'invalid_request_error', code: 'invalid_request_error' } },
  ],
  ['deepseek', { model: 'sim-402' }, 402, { error: { message: 'Insufficient Balance' } }],
  [
    'mistral',
    { stream: true, stream_options: { include_usage: true } },
    422,
    {
      object: 'error',
      message: { detail: [{ type: 'extra_forbidden', loc: ['body', 'stream_options'] }] },
    },
  ],
  ['mistral', { max_completion_tokens: 4 }, 422, /extra_forbidden/],
  ['mistral', { temperature: 1.6 }, 422, /above maximum/],
  [
    'mistral',
    { logprobs: true },
    400,
    { code: '3051', type: 'invalid_request_error', raw_status_code: 400 },
  ],
  [
    'mistral',
    { messages: [user, { role: 'assistant', content: 'Hello' }] },
    400,
    /Expected last role User or Tool/,
  ],
  [
    'mistral',
    { messages: [user, call('abcdefghi'), user] },
    400,
    /Not the same number of function calls and responses/,
  ],
  [
    'mistral',
    { messages: [user, call('call_too_long'), result('call_too_long')] },
    400,
    /must be a-z, A-Z, 0-9, with a length of 9/,
  ],
  [
    'mistral',
    { model: 'codestral-latest', messages: imageTurn },
    400,
    /Image input is not enabled/,
  ],
  [
    'groq',
    { logprobs: true },
    400,
    {
      error: {
        message: '`logprobs` is not supported with this model',
        type: 'invalid_request_error',
      },
    },
  ],
  ['groq', { n: 2 }, 400, { error: { message: "'n' : number must be at most 1" } }],
  ['groq', { foo: 1 }, 400, { error: { message: "property 'foo' is unsupported" } }],
  ['groq', { model: 'llama-3.1-8b-instant', messages: imageTurn }, 400, /content must be a string/],
  [
    'xai',
    { model: 'grok-4.3', presence_penalty: 1 },
    400,
    {
      code: 'Client specified an invalid argument',
      error: 'Argument not supported on this model: presence_penalty',
    },
  ],
  ['xai', { model: 'sim-404' }, 404, { code: 'Some requested entity was not found' }],
  [
    'perplexity',
    { messages: [user, user] },
    400,
    { error: { code: 400, message: expect.stringContaining('should alternate') } },
  ],
  ['perplexity', { tools: [tool] }, 400, /Tool calling is not supported/],
  [
    'openrouter',
    { model: 'gpt-4o' },
    400,
    { error: { code: 400, message: 'gpt-4o is not a valid model ID' }, user_id: 'user_sim' },
  ],
  ['zhipu', { temperature: 1.5 }, 400, { error: { code: '1210' } }],
  ['zhipu', { messages: [{ role: 'system', content: 'x' }] }, 400, { error: { code: '1214' } }],
  [
    'qwen',
    { enable_thinking: true },
    400,
    {
      error: { message: 'parameter.enable_thinking must be set to false for non-streaming calls' },
    },
  ],
  ['qwen', { temperature: 2 }, 400, /Expected a value < 2/],
  [
    'moonshot',
    { model: 'kimi-k2.6', temperature: 0.3 },
    400,
    {
      error: {
        type: 'invalid_request_error',
        message: 'invalid temperature: only 1 is allowed for this model',
      },
    },
  ],
  ['moonshot', { tools: [tool], tool_choice: 'required' }, 400, /not supported/],
  ['minimax', { temperature: 0 }, 200, { base_resp: { status_code: 2013 } }],
  [
    'volcengine',
    { model: 'sim-402' },
    403,
    { error: { code: 'AccountOverdueError', type: 'Forbidden' } },
  ],
  [
    'hunyuan',
    { messages: [user, { role: 'system', content: 'x' }] },
    400,
    /system 角色必须位于列表的最开始/,
  ],
  [
    'cerebras',
    { messages: imageTurn, model: 'llama-3.3-70b' },
    400,
    { type: 'invalid_request_error' },
  ],
  ['siliconflow', { model: 'sim-404' }, 400, { code: 20012, data: null }],
  ['ollama', { messages: imageTurn }, 400, { error: { message: 'invalid image input' } }],
  ['vllm', { max_tokens: 0 }, 400, { error: { type: 'BadRequestError', code: 400 } }],
  [
    'llamacpp',
    { temperature: 'hot' },
    400,
    {
      error: {
        code: 400,
        message: "Field 'temperature': [json.exception.type_error.302] type must be number",
      },
    },
  ],
  [
    'llamacpp',
    { model: 'sim-context' },
    400,
    { error: { type: 'exceed_context_size_error', n_ctx: 16 } },
  ],
];

test.each(refusals)('%s refuses %j', async (vendor, more, status, body) => {
  const prefix = vendors.find((dialect) => dialect.vendor === vendor)?.prefix ?? '';
  const reply = await ask(sim.url + prefix, { model: 'sim-chat', messages: hi, ...more });
  expect(reply.status, reply.text).toBe(status);
  if (body instanceof RegExp) expect(reply.text).toMatch(body);
  else expect(reply.json).toMatchObject(body);
});

/** Requests that a vendor accepts and OpenAI refuses, or the other way round. */
const accepted: readonly (readonly [string, Json])[] = [
  ['openai', { model: 'gpt-5', max_completion_tokens: 50 }],
  ['openai', { model: 'gpt-5.4', tools: [tool], reasoning_effort: 'none', temperature: 0 }],
  ['openai', { model: 'gpt-5.4-mini', tools: [tool] }],
  ['openai', { model: 'gpt-4o', messages: [user, call('c'), result('c')] }],
  ['deepseek', { model: 'deepseek-chat', foo: 1, tools: [tool], tool_choice: 'required' }],
  [
    'mistral',
    {
      random_seed: 1,
      tool_choice: 'any',
      tools: [tool],
      messages: [user, call('abcdefghi'), result('abcdefghi')],
    },
  ],
  ['mistral', { messages: [user, call('abcdefghi'), result('abcdefghi'), user] }],
  ['groq', { reasoning_format: 'parsed', max_completion_tokens: 9 }],
  ['qwen', { enable_thinking: true, stream: true }],
  ['moonshot', { model: 'kimi-k2.6', temperature: 1 }],
  [
    'openrouter',
    { model: 'openai/gpt-4o', reasoning: { effort: 'low' }, provider: { sort: 'price' } },
  ],
  ['ollama', { tool_choice: 'required', n: 3, foo: 1 }],
];

test.each(accepted)('%s accepts %j', async (vendor, more) => {
  const prefix = vendors.find((dialect) => dialect.vendor === vendor)?.prefix ?? '';
  const reply = await ask(sim.url + prefix, { model: 'sim-chat', messages: hi, ...more });
  expect(reply.status, reply.text).toBe(200);
});

/** The responses to a missing key and to a wrong one. */
const endpoints: readonly (readonly [string, number, number, Json])[] = [
  ['openai', 401, 401, { error: { code: 'invalid_api_key', param: null } }],
  ['azure', 401, 401, { error: { code: '401' } }],
  [
    'deepseek',
    401,
    401,
    { error: { type: 'authentication_error', code: 'invalid_request_error' } },
  ],
  ['qwen', 401, 401, { error: { code: 'invalid_api_key' } }],
  ['moonshot', 401, 401, { error: { type: 'invalid_authentication_error' } }],
  ['zhipu', 401, 401, { error: { code: '1000' } }],
  ['minimax', 200, 200, { base_resp: { status_code: 1004 } }],
  ['volcengine', 401, 401, { error: { code: 'AuthenticationError' } }],
  ['xai', 401, 400, { code: 'invalid-argument' }],
  ['mistral', 401, 401, { detail: 'Invalid API Key' }],
  ['groq', 401, 401, { error: { code: 'invalid_api_key' } }],
  ['together', 401, 401, { error: { code: 'invalid_api_key' } }],
  ['openrouter', 401, 401, { error: { code: 401 } }],
  ['perplexity', 401, 401, { error: { code: 401 } }],
  ['cerebras', 401, 401, { code: 'wrong_api_key' }],
  ['ollama', 200, 401, { error: { message: 'unauthorized' } }],
];

test.each(endpoints)('%s looks at the key first', async (vendor, missing, wrong, body) => {
  const prefix = vendors.find((dialect) => dialect.vendor === vendor)?.prefix ?? '';
  const request = { model: 'sim-chat', messages: hi };
  expect((await ask(sim.url + prefix, request, {})).status).toBe(missing);
  const refused = await ask(sim.url + prefix, '{not json', { authorization: 'Bearer sk-wrong' });
  expect(refused.status).toBe(wrong);
  expect(refused.json).toMatchObject(body);
});

test('Azure takes its key in api-key, and on the legacy path the deployment is the model', async () => {
  const request = { messages: hi };
  const legacy = `${sim.url}/azure/openai/deployments/gpt-4o`;
  expect(
    (await ask(`${sim.url}/azure/openai/v1`, { ...request, model: 'gpt-4o' }, { 'api-key': 'k' }))
      .status,
  ).toBe(200);
  const versioned = await fetch(`${legacy}/chat/completions?api-version=2024-10-21`, {
    method: 'POST',
    headers: { 'api-key': 'k' },
    body: JSON.stringify(request),
  });
  expect(await versioned.json()).toMatchObject({
    model: 'gpt-4o',
    prompt_filter_results: [{ prompt_index: 0 }],
  });
  expect((await ask(legacy, request, { 'api-key': 'k' })).status).toBe(404);
});
