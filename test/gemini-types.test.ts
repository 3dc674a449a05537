import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { FinishReason } from '@google/genai';
import { expect, onTestFinished, test } from 'vitest';
import { startSim } from '../sim/index.ts';
import { isFault } from '../src/providers/formats/fault.ts';
import { geminiChat } from '../src/providers/formats/gemini/adapter.ts';
import { chatCall } from './support/vendor-call.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The package's types of what goes over the wire; its enums are plain words there. */
const wire = `
import type { Candidate, Content, GenerateContentResponse, GenerationConfig, SafetySetting, Tool, ToolConfig } from '@google/genai';
type Plain<T> = unknown extends T ? T : T extends string ? \`\${T}\` : T extends readonly (infer U)[] ? Plain<U>[] : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
type Request = Plain<{
  contents: Content[];
  systemInstruction?: Content;
  tools?: Tool[];
  toolConfig?: ToolConfig;
  safetySettings?: SafetySetting[];
  generationConfig?: GenerationConfig;
  cachedContent?: string;
}>;
// Recorded, and not in the package's types yet.
type Tier = { usageMetadata?: { serviceTier?: string } };
type Answer = Tier & Plain<Pick<GenerateContentResponse, 'candidates' | 'usageMetadata' | 'modelVersion' | 'responseId' | 'createTime' | 'promptFeedback'>>;
`;

/**
 * Compiles the lines against the package's types, members that no type knows included; returns the
 * compiler's complaints.
 */
async function complaints(lines: readonly string[]): Promise<string> {
  const cache = join(root, 'node_modules/.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'gemini-types-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'wire.ts'), `${wire}${lines.join('\n')}\n`);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    module: 'nodenext',
    target: 'es2022',
    types: [],
  };
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['wire.ts'] }),
  );
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  // The first few tell enough.
  return promisify(execFile)(process.execPath, [compiler, '-p', folder]).then(
    ({ stdout }) => stdout.slice(0, 2000),
    ({ stdout }: { stdout: string }) => stdout.slice(0, 2000) || 'the compiler did not run',
  );
}

const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
const fn = {
  name: 'f',
  description: 'F',
  parameters: { type: 'object', properties: { a: { type: ['string', 'null'] } }, required: ['a'] },
};
const tools = [{ type: 'function', function: fn }];
const hello = { role: 'user', content: 'Hi' };
const called = {
  role: 'assistant',
  content: 'Well.',
  reasoning_details: [
    { type: 'reasoning.encrypted', data: 'dGV4dA==', format: 'google-gemini-v1', index: 0 },
  ],
  tool_calls: [
    {
      id: 'a',
      type: 'function',
      function: { name: 'f', arguments: '{"a":1}' },
      extra_content: { google: { thought_signature: 'c2ln' } },
    },
    { id: 'b', type: 'function', function: { name: 'f', arguments: '{}' } },
  ],
};
const results = [
  { role: 'tool', tool_call_id: 'a', content: '{"x":1}' },
  { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'x' }, image] },
];
const schema = {
  type: 'object',
  properties: { n: { type: 'integer' } },
  required: ['n'],
  additionalProperties: false,
};

/** Requests that between them make the adapter write every member that it knows. */
const asked: readonly Record<string, unknown>[] = [
  {
    messages: [
      { role: 'system', content: 'Be brief.' },
      hello,
      { role: 'assistant', content: 'Hello' },
      hello,
    ],
  },
  {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          image,
          { type: 'input_audio', input_audio: { format: 'mp3', data: 'BBBB' } },
        ],
      },
    ],
  },
  {
    messages: [
      {
        role: 'user',
        content: [
          {
            type: 'file',
            file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,CCCC' },
          },
        ],
      },
    ],
  },
  {
    messages: [
      {
        role: 'user',
        content: [{ type: 'video_url', video_url: { url: 'https://youtu.be/abc' } }],
      },
    ],
  },
  { messages: [hello, called, ...results], tools },
  ...['auto', 'none', 'required', { type: 'function', function: { name: 'f' } }].map(
    (tool_choice) => ({
      messages: [hello],
      tools,
      tool_choice,
    }),
  ),
  {
    messages: [hello],
    tools,
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
    },
  },
  { messages: [hello], response_format: { type: 'json_object' } },
  {
    messages: [hello],
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
  },
  ...['none', 'minimal', 'low', 'medium', 'high', 'xhigh'].map((reasoning_effort) => ({
    messages: [hello],
    reasoning_effort,
  })),
  {
    messages: [hello],
    temperature: 0.5,
    top_p: 0.9,
    top_k: 4,
    max_tokens: 10,
    stop: ['a', 'b'],
    n: 2,
    seed: 2 ** 40,
    presence_penalty: 0.1,
    frequency_penalty: 0.2,
  },
  { messages: [hello], logprobs: true, top_logprobs: 3 },
  { messages: [hello], modalities: ['text', 'image'] },
  { messages: [hello], modalities: ['audio'], audio: { voice: 'Kore', format: 'pcm16' } },
  { messages: [hello], extra_body: { google: { cached_content: 'cachedContents/a' } } },
];

const models = [
  'gemini-2.0-flash',
  'gemini-2.5-flash',
  'gemini-3-flash-preview',
  'gemini-3.8-flash',
  'gemma-3-27b-it',
];

test('what we send is what the official package’s types allow', async () => {
  const lines = models.flatMap((upstreamModel) =>
    asked.map(
      (body) =>
        `({} as (request: Request) => void)(${geminiChat.ask(chatCall(body, upstreamModel)).body.toString()});`,
    ),
  );
  expect(lines.length).toBeGreaterThan(100);
  expect(await complaints(lines)).toBe('');
  expect(
    await complaints([
      '({} as (request: Request) => void)({"contents":[],"generationConfig":{"maxTokens":1}});',
    ]),
  ).toMatch(/maxTokens.*does not exist/);
});

test('what we read, and the simulator writes, is what the official package reads', async () => {
  const sim = await startSim();
  onTestFinished(() => sim.close());
  const answers: string[] = [];
  for (const base of ['gemini/v1beta', 'vertex/v1/publishers/google'])
    for (const model of [
      'gemini-2.5-flash',
      'gemini-3-flash-preview',
      'sim-policy',
      'gemini-2.5-flash+sim-filtered',
      'gemini-2.0-flash+sim-cached',
    ]) {
      const config = model.startsWith('gemini-2.0')
        ? { responseLogprobs: true, logprobs: 2 }
        : { thinkingConfig: { includeThoughts: true } };
      const generationConfig = /filtered|policy/.test(model) ? {} : config;
      const contents = [{ role: 'user', parts: [{ text: 'The weather in Paris?' }] }];
      const declared = [{ functionDeclarations: [{ name: 'get_weather' }] }];
      for (const [method, more] of [
        ['generateContent', {}],
        ['generateContent', { tools: declared }],
        ['streamGenerateContent', {}],
      ] as const) {
        const response = await fetch(`${sim.url}/${base}/models/${model}:${method}?key=k`, {
          method: 'POST',
          body: JSON.stringify({ contents, generationConfig, ...more }),
        });
        expect(response.status, `${model} ${method}`).toBe(200);
        const told: unknown = await response.json();
        answers.push(...(Array.isArray(told) ? told : [told]).map((one) => JSON.stringify(one)));
      }
    }
  expect(answers.length).toBeGreaterThan(60);
  const lines = answers.map((answer) => `({} as (answer: Answer) => void)(${answer});`);
  expect(await complaints(lines)).toBe('');
});

test('every way to end that the package knows is one that we know', () => {
  const finishes = Object.fromEntries(
    Object.values(FinishReason).map((finishReason) => {
      const reply = { candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason }] };
      const answer = geminiChat.read(
        Buffer.from(JSON.stringify(reply)),
        'application/json',
        chatCall({}, 'gemini-2.5-flash'),
      );
      return [
        finishReason,
        isFault(answer) ? answer.kind : JSON.parse(answer.body.toString()).choices[0].finish_reason,
      ];
    }),
  );
  const filters =
    'SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION'.split(
      ' ',
    );
  for (const [reason, finish] of Object.entries(finishes))
    expect([reason, finish]).toEqual([
      reason,
      filters.includes(reason) ? 'content_filter' : reason === 'MAX_TOKENS' ? 'length' : 'stop',
    ]);
});
