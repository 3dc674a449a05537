import {
  AccessDeniedException,
  BedrockRuntimeClient,
  type ContentBlock,
  CountTokensCommand,
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
  InternalServerException,
  ServiceUnavailableException,
  ThrottlingException,
  ValidationException,
} from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sim, startSim } from '../index.ts';
import { secretAccessKey } from './proof.ts';

/**
 * AWS's SDK, straight at the simulated vendor: the simulator verifies its signatures, and the SDK
 * parses the simulator's events.
 */
let sim: Sim;
let client: BedrockRuntimeClient;
beforeAll(async () => {
  sim = await startSim();
  client = clientOf({});
});
afterAll(async () => {
  client.destroy();
  await sim.close();
});

const accessKeyId = 'AKIASIMULATEDVENDOR1';
const clientOf = (
  more: Partial<{
    accessKeyId: string;
    secretAccessKey: string;
    sessionToken: string;
    clockOffset: number;
  }>,
) => {
  const { clockOffset = 0, ...keys } = more;
  const made = new BedrockRuntimeClient({
    endpoint: `${sim.url}/bedrock`,
    region: 'eu-central-1',
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler(),
    systemClockOffset: clockOffset,
    credentials: { accessKeyId, secretAccessKey, ...keys },
    authSchemePreference: ['aws.auth#sigv4'],
  });
  return made;
};

const claude = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const nova = 'us.amazon.nova-lite-v1:0';
const nova2 = 'us.amazon.nova-2-lite-v1:0';
const llama = 'us.meta.llama4-maverick-17b-instruct-v1:0';
const messages: ConverseCommandInput['messages'] = [
  { role: 'user', content: [{ text: 'Hello, who are you?' }] },
];
const weather = {
  toolSpec: {
    name: 'get_weather',
    inputSchema: {
      json: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
};
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const userTurn = (...content: ContentBlock[]): ConverseCommandInput['messages'] => [
  { role: 'user', content },
];

const ask = (modelId: string, more: Partial<ConverseCommandInput> = {}, by = client) =>
  by.send(new ConverseCommand({ modelId, messages, ...more }));

async function stream(modelId: string, more: Partial<ConverseCommandInput> = {}) {
  const { stream: events } = await client.send(
    new ConverseStreamCommand({ modelId, messages, ...more }),
  );
  const seen: string[] = [];
  let [text, thought, signature, input] = ['', '', '', ''];
  let total: number | undefined;
  for await (const event of events ?? []) {
    seen.push(Object.keys(event)[0] ?? '');
    const delta = event.contentBlockDelta?.delta;
    text += delta?.text ?? '';
    thought += delta?.reasoningContent?.text ?? '';
    signature += delta?.reasoningContent?.signature ?? '';
    input += delta?.toolUse?.input ?? '';
    total = event.metadata?.usage?.totalTokens ?? total;
  }
  return { seen, text, thought, signature, input, total };
}

describe('answers', () => {
  test.each([claude, nova, nova2, llama])('%s, whole and in a stream', async (model) => {
    const { output, stopReason, usage } = await ask(model);
    const text = output?.message?.content?.[0]?.text;
    expect({ stopReason, role: output?.message?.role, text }).toEqual({
      stopReason: 'end_turn',
      role: 'assistant',
      text: expect.stringContaining('who are you?'),
    });
    expect(usage?.totalTokens).toBe((usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0));
    const streamed = await stream(model);
    expect(streamed).toMatchObject({ text, total: usage?.totalTokens });
    expect([streamed.seen[0], ...streamed.seen.slice(-3)]).toEqual([
      'messageStart',
      'contentBlockStop',
      'messageStop',
      'metadata',
    ]);
  });

  test('calls and their results', async () => {
    const request = {
      toolConfig: { tools: [weather] },
      messages: userTurn({ text: 'The weather in both Paris and Rome, please.' }),
    };
    const { output, stopReason } = await ask(claude, request);
    const content = output?.message?.content ?? [];
    expect({ stopReason, inputs: content.map(({ toolUse }) => toolUse?.input) }).toEqual({
      stopReason: 'tool_use',
      inputs: [{ city: 'Paris' }, { city: 'Rome' }],
    });
    const results = content.map(({ toolUse }) => ({
      toolResult: { toolUseId: toolUse?.toolUseId, content: [{ json: { celsius: 21 } }] },
    }));
    const turns = [
      ...(request.messages ?? []),
      { role: 'assistant' as const, content },
      { role: 'user' as const, content: results },
    ];
    expect((await ask(claude, { ...request, messages: turns })).stopReason).toBe('end_turn');
    const { seen, input } = await stream(nova, {
      ...request,
      messages: userTurn({ text: 'The weather in Paris?' }),
    });
    expect({ input, third: seen[1] }).toEqual({
      input: '{"city":"Paris"}',
      third: 'contentBlockStart',
    });
    await expect(ask(claude, { ...request, messages: turns.slice(0, 2) })).rejects.toThrow(
      'Expected toolResult blocks at messages.2.content',
    );
  });

  test('thoughts of Claude are signed, and others are not', async () => {
    const thinking = {
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2000 } },
    };
    const { thought, signature } = await stream(claude, thinking);
    expect({ thought, signature }).toEqual({
      thought: expect.stringContaining('think first'),
      signature: expect.stringMatching(/.{20}/),
    });
    const back = (with_: string) =>
      ask(claude, {
        ...thinking,
        messages: [
          ...(messages ?? []),
          {
            role: 'assistant',
            content: [
              { reasoningContent: { reasoningText: { text: thought, signature: with_ } } },
              { text: 'Me.' },
            ],
          },
          ...(messages ?? []),
        ],
      });
    expect((await back(signature)).stopReason).toBe('end_turn');
    await expect(back('abcd')).rejects.toThrow(
      'The model returned the following errors: messages.1.content.0: Invalid `signature` in `thinking` block',
    );
    const others = await stream(nova2, {
      additionalModelRequestFields: {
        reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' },
      },
    });
    expect(others).toMatchObject({ thought, signature: '' });
  });

  test('images are seen, marks are written to the cache, limits and stop sequences end', async () => {
    const { output } = await ask(claude, {
      messages: userTurn({ image: { format: 'png', source: { bytes: png } } }),
    });
    expect(output?.message?.content?.[0]?.text).toMatch(/PNG image of 1×1/);
    const system = [
      { text: 'The quick brown fox jumps over the lazy dog. '.repeat(120) },
      { cachePoint: { type: 'default' as const, ttl: '1h' as const } },
    ];
    const { usage } = await ask(claude, { system });
    expect(usage).toMatchObject({
      cacheReadInputTokens: 0,
      cacheDetails: [{ ttl: '1h', inputTokens: usage?.cacheWriteInputTokens }],
    });
    expect(usage?.cacheWriteInputTokens).toBeGreaterThan(1024);
    expect(await ask(nova, { inferenceConfig: { maxTokens: 2 } })).toMatchObject({
      stopReason: 'max_tokens',
      usage: { outputTokens: 2 },
    });
    const stopped = {
      messages: userTurn({ text: 'Say one two' }),
      inferenceConfig: { stopSequences: ['two'] },
    };
    expect((await ask(nova, stopped)).stopReason).toBe('stop_sequence');
  });
});

test('tokens are counted for Claude, by its own name, in either format', async () => {
  const count = (modelId: string) =>
    client.send(new CountTokensCommand({ modelId, input: { converse: { messages } } }));
  const { inputTokens } = await count('anthropic.claude-sonnet-4-5-20250929-v1:0');
  expect(inputTokens).toBe((await ask(claude)).usage?.inputTokens);
  await expect(count(claude)).rejects.toThrow(
    "The provided model doesn't support counting tokens.",
  );
  const request = {
    anthropic_version: 'bedrock-2023-05-31',
    max_tokens: 1,
    messages: [{ role: 'user', content: 'Hello, who are you?' }],
  };
  const body = Buffer.from(JSON.stringify(request));
  const native = new CountTokensCommand({
    modelId: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
    input: { invokeModel: { body } },
  });
  expect((await client.send(native)).inputTokens).toBe(inputTokens);
});

describe('refusals', () => {
  test('proofs: a wrong secret, an unknown key, an old clock, an old session', async () => {
    const as = (more: Parameters<typeof clientOf>[0]) => ask(claude, {}, clientOf(more));
    await expect(as({ secretAccessKey: 'else' })).rejects.toMatchObject({
      name: 'InvalidSignatureException',
      message: expect.stringContaining('does not match the signature you provided'),
    });
    await expect(as({ accessKeyId: 'AKIAINVALIDINVALID01' })).rejects.toMatchObject({
      name: 'UnrecognizedClientException',
    });
    await expect(as({ clockOffset: -600_000 })).rejects.toThrow(
      /^Signature expired: \w+ is now earlier than \w+ \(\w+ - 5 min\.\)$/,
    );
    await expect(as({ sessionToken: 'expired' })).rejects.toMatchObject({
      name: 'ExpiredTokenException',
    });
    const bare = await fetch(`${sim.url}/bedrock/model/${claude}/converse`, {
      method: 'POST',
      body: '{}',
    });
    expect([bare.status, bare.headers.get('x-amzn-errortype')]).toEqual([
      403,
      expect.stringMatching(/^MissingAuthenticationToken/),
    ]);
    expect((await as({ sessionToken: 'a session' })).stopReason).toBe('end_turn');
  });

  const toolConfig = { tools: [weather] };
  const call = { toolUse: { toolUseId: 't1', name: 'get_weather', input: {} } };
  const result = { toolResult: { toolUseId: 't1', content: [{ text: '21' }] } };
  const turns = (...contents: ContentBlock[][]): ConverseCommandInput['messages'] =>
    contents.map((content, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content }));
  const hello = { text: 'Hi' };

  test.each<[string, string, Partial<ConverseCommandInput>]>([
    [
      'A conversation must start with a user message',
      nova,
      { messages: [{ role: 'assistant', content: [hello] }] },
    ],
    [
      'A conversation must start with a user message',
      'anthropic.claude-3-5-sonnet-20241022-v2:0',
      { messages: [{ role: 'assistant', content: [hello] }] },
    ],
    ['A conversation must end with a user message', llama, { messages: turns([hello], [hello]) }],
    [
      'The content field in the Message object at messages.0 is empty',
      nova,
      { messages: userTurn() },
    ],
    [
      'The text field in the ContentBlock object at messages.0.content.0 is blank',
      nova,
      { messages: userTurn({ text: ' ' }) },
    ],
    [
      'The toolConfig field must be defined when using toolUse and toolResult',
      nova,
      { messages: turns([hello], [call], [result]) },
    ],
    [
      'toolResult blocks at messages.0.content exceeds the number of toolUse blocks',
      nova,
      { toolConfig, messages: turns([result]) },
    ],
    [
      'Expected toolResult blocks at messages.2.content for the following Ids: t1',
      nova,
      { toolConfig, messages: turns([hello], [call], [hello]) },
    ],
    [
      'Conversation blocks and tool result blocks cannot be provided in the same turn',
      llama,
      { toolConfig, messages: turns([hello], [call], [result, hello]) },
    ],
    [
      "doesn't support the toolConfig.toolChoice.any field",
      llama,
      { toolConfig: { ...toolConfig, toolChoice: { any: {} } } },
    ],
    [
      'inputSchema.json.type must be one of the following: object',
      nova,
      { toolConfig: { tools: [{ toolSpec: { name: 'a', inputSchema: { json: {} } } }] } },
    ],
    [
      'Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+',
      nova,
      { toolConfig: { tools: [{ toolSpec: { ...weather.toolSpec, name: 'a b' } }] } },
    ],
    [
      "doesn't support the image field",
      'us.amazon.nova-micro-v1:0',
      { messages: userTurn({ image: { format: 'png', source: { bytes: png } } }) },
    ],
    [
      'does not match the specified image format',
      nova,
      { messages: userTurn({ image: { format: 'jpeg', source: { bytes: png } } }) },
    ],
    [
      'The document file name can only contain',
      nova,
      {
        messages: userTurn(hello, {
          document: { format: 'txt', name: 'a.txt', source: { bytes: png } },
        }),
      },
    ],
    [
      'did not allow prompt caching',
      llama,
      { messages: userTurn(hello, { cachePoint: { type: 'default' } }) },
    ],
    [
      'Member must have value less than or equal to 1',
      nova,
      { inferenceConfig: { temperature: 1.5 } },
    ],
    [
      'The maximum tokens you requested exceeds the model limit of 10000',
      nova,
      { inferenceConfig: { maxTokens: 20_000 } },
    ],
    [
      "doesn't support the outputConfig.textFormat field",
      nova,
      {
        outputConfig: {
          textFormat: { type: 'json_schema', structure: { jsonSchema: { schema: '{}' } } },
        },
      },
    ],
    [
      'maxTokens must not be set when maxReasoningEffort is high',
      nova2,
      {
        inferenceConfig: { maxTokens: 10 },
        additionalModelRequestFields: {
          reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' },
        },
      },
    ],
    [
      'The model returned the following errors: `temperature` and `top_p` cannot both be specified',
      claude,
      { inferenceConfig: { temperature: 0.5, topP: 0.5 } },
    ],
    [
      'The model returned the following errors: `temperature` may only be set to 1 when thinking is enabled',
      claude,
      {
        inferenceConfig: { temperature: 0.5 },
        additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2000 } },
      },
    ],
    ['on-demand throughput isn’t supported', 'anthropic.claude-sonnet-4-5-20250929-v1:0', {}],
    ['The provided model identifier is invalid', 'us.does-not-exist-v1:0', {}],
    [
      'A maximum of 4 cachePoint blocks may be provided. Found 5',
      claude,
      {
        messages: userTurn(
          ...Array.from({ length: 5 }, (_, i) => [
            { text: `${i}` },
            { cachePoint: { type: 'default' as const } },
          ]).flat(),
        ),
      },
    ],
  ])('%s', async (message, model, more) => {
    const refused = ask(model, more);
    await expect(refused).rejects.toThrow(ValidationException);
    await expect(refused).rejects.toThrow(message);
  });

  test('members that nobody knows', async () => {
    const body = JSON.stringify({
      messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
      temperature: 1,
    });
    const headers = { authorization: 'Bearer ABSKsim', 'content-type': 'application/json' };
    const response = await fetch(`${sim.url}/bedrock/model/${encodeURIComponent(nova)}/converse`, {
      method: 'POST',
      headers,
      body,
    });
    expect({ status: response.status, body: await response.json() }).toEqual({
      status: 400,
      body: {
        message:
          'Malformed input request: #: extraneous key [temperature] is not permitted, please reformat your input and try again.',
      },
    });
  });

  test('have the classes that the package knows, in streams, too', async () => {
    await expect(ask('sim-429')).rejects.toThrow(ThrottlingException);
    await expect(ask('sim-402')).rejects.toThrow(AccessDeniedException);
    await expect(ask('sim-500')).rejects.toThrow(InternalServerException);
    await expect(ask('sim-503')).rejects.toThrow(ServiceUnavailableException);
    await expect(ask('sim-context')).rejects.toThrow('Input Tokens Exceeded');
    await expect(stream('sim-error-in-stream')).rejects.toThrow(InternalServerException);
    await expect(stream('sim-half-event')).rejects.toThrow('Truncated event message');
  });
});
