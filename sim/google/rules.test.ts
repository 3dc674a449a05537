import { createSign } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { type Sim, startSim } from '../index.ts';
import type { Json } from '../json.ts';
import { tooLarge } from './rules.ts';
import { simServiceAccount } from './token.ts';

let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
afterAll(() => sim.close());

async function post(
  url: string,
  body: object | string,
  headers: Record<string, string> = {},
): Promise<{ status: number; error: Json; body: Json }> {
  const response = await fetch(sim.url + url, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const parsed: Json = JSON.parse(await response.text());
  const error: Json = Object(parsed['error']);
  return { status: response.status, error, body: parsed };
}
const ask = (body: object | string, model = 'gemini-2.5-flash') =>
  post(`/gemini/v1beta/models/${model}:generateContent?key=k`, body);
const place = '/vertex/v1/projects/p/locations/l/publishers';
const askVertex = (body: object, model = 'gemini-2.5-flash') =>
  post(`${place}/google/models/${model}:generateContent`, body, {
    authorization: 'Bearer ya29.sim',
  });

const user = (...parts: readonly object[]): object => ({ role: 'user', parts });
const hello = user({ text: 'Hi' });
const withConfig = (config: object): object => ({ contents: [hello], generationConfig: config });
const call = (name = 'f', more: object = {}): object => ({
  functionCall: { name, args: {} },
  ...more,
});
const result = (name = 'f'): object => ({ functionResponse: { name, response: { output: '1' } } });
const turns = (...contents: readonly object[]): object => ({
  contents,
  tools: [{ functionDeclarations: [{ name: 'f' }, { name: 'g' }] }],
});
const model = (...parts: readonly object[]): object => ({ role: 'model', parts });
const declared = (fn: object): object => ({
  contents: [hello],
  tools: [{ functionDeclarations: [fn] }],
});
const parameters = (schema: object): object =>
  declared({ name: 'f', parameters: { type: 'OBJECT', properties: { a: schema } } });
const media = (mimeType: string, data: string): object => ({
  contents: [user({ inlineData: { mimeType, data } })],
});

const refusals: readonly (readonly [string, object, RegExp, string?])[] = [
  ['an unknown member', { ...withConfig({}), foo: 1 }, /Unknown name "foo": Cannot find field/],
  [
    'an unknown member deep inside',
    withConfig({ thinkingConfig: { effort: 'low' } }),
    /Unknown name "effort" at 'generation_config.thinking_config'/,
  ],
  [
    'a number for a text',
    { contents: [user({ text: 5 })] },
    /Invalid value at 'contents\[0\].parts\[0\].text' \(TYPE_STRING\), 5/,
  ],
  [
    'a fraction of a token',
    withConfig({ maxOutputTokens: 1.5 }),
    /max_output_tokens' \(TYPE_INT32\), 1.5/,
  ],
  [
    'an enum’s unknown value',
    withConfig({ thinkingConfig: { thinkingLevel: 'EXTREME' } }),
    /v1beta\.ThinkingLevel\), "EXTREME"/,
  ],
  [
    'two kinds of data in one part',
    { contents: [user({ text: 'a', inlineData: { mimeType: 'image/png', data: '' } })] },
    /oneof field 'data' is already set/,
  ],
  [
    'a keyword that its schemas lack',
    parameters({ type: 'STRING', const: 'x' }),
    /Unknown name "const" at 'tools\[0\].function_declarations\[0\].parameters.properties\[0\].value'/,
  ],
  [
    'additionalProperties',
    declared({ name: 'f', parameters: { type: 'OBJECT', additionalProperties: false } }),
    /Unknown name "additionalProperties"/,
  ],
  ['$ref', parameters({ $ref: '#/$defs/a' }), /Unknown name "\$ref"/],
  [
    'several types at once',
    parameters({ type: ['string', 'null'] }),
    /Proto field is not repeating, cannot start list/,
  ],
  ['a list without items', parameters({ type: 'ARRAY' }), /properties\[a\].items: missing field/],
  [
    'a required property that is not there',
    declared({
      name: 'f',
      parameters: { type: 'OBJECT', properties: { a: { type: 'STRING' } }, required: ['b'] },
    }),
    /required\[0\]: property is not defined/,
  ],
  [
    'an object without properties as an answer',
    withConfig({
      responseMimeType: 'application/json',
      responseSchema: { type: 'OBJECT', properties: {} },
    }),
    /should be non-empty for OBJECT type/,
  ],
  [
    'a schema without JSON',
    withConfig({ responseSchema: { type: 'STRING' } }),
    /response_schema: only supported with response_mime_type/,
  ],
  [
    'an unheard-of answer’s type',
    withConfig({ responseMimeType: 'text/html' }),
    /allowed mimetypes are/,
  ],
  [
    'functions and JSON before the third generation',
    {
      ...withConfig({ responseMimeType: 'application/json' }),
      tools: [{ functionDeclarations: [{ name: 'f' }] }],
    },
    /'application\/json' is unsupported/,
  ],
  ['a function’s name with blanks', declared({ name: 'my function' }), /Invalid function name/],
  [
    'a function twice',
    { contents: [hello], tools: [{ functionDeclarations: [{ name: 'f' }, { name: 'f' }] }] },
    /Duplicate function declaration found: f/,
  ],
  [
    'names of functions without a must',
    {
      ...turns(hello),
      toolConfig: { functionCallingConfig: { mode: 'AUTO', allowedFunctionNames: ['f'] } },
    },
    /only when function calling mode is ANY/,
  ],
  ['no contents', { contents: [] }, /contents is not specified/],
  ['no parts', { contents: [user()] }, /contents\[0\].parts: contents.parts must not be empty/],
  [
    'an empty part',
    { contents: [user({})] },
    /required oneof field 'data' must have one initialized field/,
  ],
  [
    'a role of others',
    { contents: [{ role: 'assistant', parts: [{ text: 'Hi' }] }] },
    /Please use a valid role: user, model\./,
  ],
  [
    'a result without a call',
    turns(hello, user(result())),
    /function response turn comes immediately after a function call turn/,
  ],
  [
    'fewer results than calls',
    turns(hello, model(call('f'), call('g')), user(result('f'))),
    /number of function response parts is equal/,
  ],
  [
    'a result of another function',
    turns(hello, model(call('f')), user(result('g'))),
    /matches a function call/,
  ],
  [
    'a call without a result',
    turns(hello, model(call('f')), hello),
    /number of function response parts is equal/,
  ],
  [
    'a call that nobody asked for',
    turns(model(call('f')), user(result('f'))),
    /function call turn comes immediately after a user turn/,
  ],
  [
    'a result without a name',
    turns(hello, model(call('f')), user(result(''))),
    /Name cannot be empty/,
  ],
  [
    'a call without its signature',
    turns(hello, model(call()), user(result())),
    /Function call is missing a thought_signature .* `default_api:f` , position 2/s,
    'gemini-3-flash-preview',
  ],
  [
    'a signature that is none',
    turns(hello, model(call('f', { thoughtSignature: 'AAAA' })), user(result())),
    /Corrupted thought signature/,
  ],
  [
    'a signature that is no base64',
    turns(hello, model(call('f', { thoughtSignature: '***' })), user(result())),
    /Base64 decoding failed/,
  ],
  [
    'a budget that is too large',
    withConfig({ thinkingConfig: { thinkingBudget: 50_000 } }),
    /thinking budget 50000 is invalid. Please choose a value between 0 and 24576/,
  ],
  [
    'a budget that is too small',
    withConfig({ thinkingConfig: { thinkingBudget: 5 } }),
    /between 512 and 24576/,
    'gemini-2.5-flash-lite',
  ],
  [
    'no thoughts of a model that must think',
    withConfig({ thinkingConfig: { thinkingBudget: 0 } }),
    /only works in thinking mode/,
    'gemini-2.5-pro',
  ],
  [
    'a level before the third generation',
    withConfig({ thinkingConfig: { thinkingLevel: 'LOW' } }),
    /Thinking level is not supported/,
  ],
  [
    'a level that a model lacks',
    withConfig({ thinkingConfig: { thinkingLevel: 'MINIMAL' } }),
    /Thinking level MINIMAL is not supported/,
    'gemini-3.8-flash',
  ],
  [
    'thoughts of a model that has none',
    withConfig({ thinkingConfig: { thinkingBudget: 100 } }),
    /thinking is not supported by this model/,
    'gemini-2.0-flash',
  ],
  [
    'a temperature out of range',
    withConfig({ temperature: 2.5 }),
    /temperature must be in the range \[0.0, 2.0\]/,
  ],
  ['no tokens', withConfig({ maxOutputTokens: 0 }), /max_output_tokens must be positive/],
  [
    'more tokens than there are',
    withConfig({ maxOutputTokens: 70_000 }),
    /maxOutputTokens value of 70000 but the supported range is from 1 \(inclusive\) to 65537/,
  ],
  [
    'too many stop sequences',
    withConfig({ stopSequences: ['a', 'b', 'c', 'd', 'e', 'f'] }),
    /6 stop sequences/,
  ],
  [
    'too many candidates',
    withConfig({ candidateCount: 9 }),
    /candidate_count must be in the range \[1, 8\]/,
  ],
  [
    'several candidates of the third generation',
    withConfig({ candidateCount: 2 }),
    /Multiple candidates is not enabled/,
    'gemini-3-flash-preview',
  ],
  [
    'a penalty',
    withConfig({ presencePenalty: 0.5 }),
    /Penalty is not enabled for models\/gemini-2.5-flash/,
  ],
  [
    'logprobs of the third generation',
    withConfig({ responseLogprobs: true }),
    /Logprobs is not enabled/,
    'gemini-3-flash-preview',
  ],
  ['logprobs by half', withConfig({ logprobs: 3 }), /response_logprobs must be true/],
  [
    'speech of a model that writes',
    withConfig({ responseModalities: ['AUDIO'] }),
    /combination of response modalities \(AUDIO\)/,
  ],
  [
    'text of a model that speaks',
    { contents: [hello] },
    /combination of response modalities \(TEXT\)/,
    'gemini-2.5-flash-preview-tts',
  ],
  [
    'a file of an unknown kind',
    media('application/zip', 'AAAA'),
    /Unsupported MIME type: application\/zip/,
  ],
  ['an image that is none', media('image/png', 'AAAA'), /Unable to process input image/],
  ['bytes that are no base64', media('image/png', '***'), /Base64 decoding failed/],
  [
    'an address without TLS',
    { contents: [user({ fileData: { fileUri: 'http://host/a.png', mimeType: 'image/png' } })] },
    /Invalid or unsupported file uri/,
  ],
  [
    'instructions for a model that reads none',
    { contents: [hello], systemInstruction: { parts: [{ text: 'Be brief.' }] } },
    /Developer instruction is not enabled for models\/gemma-3-27b-it/,
    'gemma-3-27b-it',
  ],
  [
    'a category that has no filter',
    {
      contents: [hello],
      safetySettings: [{ category: 'HARM_CATEGORY_MEDICAL', threshold: 'BLOCK_NONE' }],
    },
    /safety_settings\[0\]: element predicate failed/,
  ],
];

describe('the Gemini API refuses', () => {
  test.each(refusals.map(([what, body, message, model]) => ({ what, body, message, model })))(
    '$what',
    async ({ body, message, model }) => {
      const { status, error } = await ask(body, model);
      expect({ status, code: error['code'], word: error['status'] }).toEqual({
        status: 400,
        code: 400,
        word: 'INVALID_ARGUMENT',
      });
      expect(error['message']).toMatch(message);
    },
  );

  test('all that is malformed at once, with its places', async () => {
    const { error } = await ask({ ...withConfig({ a: 1, b: 2 }) });
    expect(error['details']).toEqual([
      {
        '@type': 'type.googleapis.com/google.rpc.BadRequest',
        fieldViolations: ['a', 'b'].map((name) => ({
          field: 'generation_config',
          description: `Invalid JSON payload received. Unknown name "${name}" at 'generation_config': Cannot find field.`,
        })),
      },
    ]);
  });

  test('what is no JSON, what is too large and what is not there', async () => {
    expect(await ask('{')).toMatchObject({
      status: 400,
      error: { message: expect.stringContaining('Unexpected token') },
    });
    expect(tooLarge(100 * 1024 * 1024 + 1)).toMatchObject({ status: 400 });
    expect(
      await ask({
        contents: [
          user({
            fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/missing' },
          }),
        ],
      }),
    ).toMatchObject({ status: 403 });
    expect(await ask({ contents: [hello], cachedContent: 'cachedContents/missing' })).toMatchObject(
      { status: 403 },
    );
  });

  test('who has no key, or a wrong one', async () => {
    const at = '/gemini/v1beta/models/gemini-2.5-flash:generateContent';
    expect(await post(at, withConfig({}))).toMatchObject({
      status: 403,
      error: { status: 'PERMISSION_DENIED' },
    });
    const wrong = await post(at, withConfig({}), { 'x-goog-api-key': 'wrong' });
    expect(wrong).toMatchObject({
      status: 400,
      error: { details: [{ reason: 'API_KEY_INVALID' }, {}] },
    });
  });

  test('nothing of this', async () => {
    const signed = 'skip_thought_signature_validator';
    const third = 'gemini-3-flash-preview';
    for (const [body, modelId] of [
      [
        {
          system_instruction: { parts: { text: 'Be brief.' } },
          contents: { parts: { text: 'Hi' } },
          safetySettings: null,
        },
        undefined,
      ],
      [
        turns(
          hello,
          model(call('f', { thoughtSignature: signed }), call('g')),
          user(result('f'), result('g')),
        ),
        third,
      ],
      // The vendor checks only the current turn.
      [turns(hello, model(call()), user(result()), model({ text: 'One.' }), hello), third],
      [
        withConfig({
          candidateCount: 8,
          responseLogprobs: true,
          logprobs: 5,
          presencePenalty: 0.5,
        }),
        'gemini-2.0-flash',
      ],
      [withConfig({ thinkingConfig: { thinkingBudget: -1 } }), 'gemini-2.5-pro'],
      [
        {
          ...withConfig({
            responseMimeType: 'application/json',
            responseJsonSchema: { type: 'object' },
          }),
          tools: [{ functionDeclarations: [{ name: 'f' }] }],
        },
        third,
      ],
    ] as const)
      expect(await ask(body, modelId), JSON.stringify(body)).toMatchObject({ status: 200 });
  });
});

describe('Vertex', () => {
  test.each([
    ['no contents', { contents: [] }, /at least one contents field is required/],
    ['an empty text', { contents: [user({ text: '' })] }, /empty text parameter/],
    [
      'a turn of nobody’s',
      { contents: [{ parts: [{ text: 'Hi' }] }] },
      /Please use a valid role: user, model\./,
    ],
    [
      'a temperature out of range',
      withConfig({ temperature: 1000 }),
      /temperature value of 1000 but the supported range is from 0 \(inclusive\) to 2.0001 \(exclusive\)/,
    ],
    ['an image of more than 7 MB', media('image/png', 'A'.repeat(10_000_000)), /exceeds the limit/],
    ['a member of the other surface', { ...withConfig({}), store: true }, /Unknown name "store"/],
  ])('refuses %s', async (_what, body, message) => {
    const { status, error } = await askVertex(body);
    expect(status).toBe(400);
    expect(error['message']).toMatch(message);
  });

  test('reads what only it knows', async () => {
    expect(await askVertex({ contents: [hello], labels: { team: 'a' } })).toMatchObject({
      status: 200,
      body: { usageMetadata: { trafficType: 'ON_DEMAND' } },
    });
    expect(
      await askVertex({
        contents: [user({ fileData: { fileUri: 'gs://b/a.png', mimeType: 'image/png' } })],
      }),
    ).toMatchObject({
      status: 200,
    });
  });

  test('sells Claude as Anthropic speaks, without model and with its version in the body', async () => {
    const claude = (body: object) =>
      post(`${place}/anthropic/models/claude-sonnet-4-5@20250929:rawPredict`, body, {
        authorization: 'Bearer ya29.sim',
      });
    const request = {
      anthropic_version: 'vertex-2023-10-16',
      max_tokens: 50,
      messages: [{ role: 'user', content: 'Say hello' }],
    };
    expect(await claude(request)).toMatchObject({
      status: 200,
      body: { type: 'message', content: [{ type: 'text', text: 'hello' }] },
    });
    expect(await claude({ ...request, anthropic_version: undefined })).toMatchObject({
      status: 400,
      body: { type: 'error' },
    });
    expect(await claude({ ...request, model: 'claude-sonnet-4-5' })).toMatchObject({
      status: 400,
      error: { message: expect.stringContaining('model') },
    });
  });

  test('takes tokens that were granted, and no others', async () => {
    const at = `${place}/google/models/gemini-2.5-flash:generateContent`;
    expect(await post(at, withConfig({}))).toMatchObject({
      status: 401,
      error: { status: 'UNAUTHENTICATED' },
    });
    expect(
      await post(at, withConfig({}), { authorization: 'Bearer ya29.c.made-up' }),
    ).toMatchObject({
      status: 401,
    });
  });
});

test('a token is granted for a true statement of the account, and for no other', async () => {
  const account: Record<string, string> = JSON.parse(simServiceAccount(sim.url));
  const now = Math.floor(systemClock.now() / 1000);
  const claims = {
    iss: account['client_email'],
    scope: 'https://www.googleapis.com/auth/cloud-platform',
    aud: account['token_uri'],
    iat: now,
    exp: now + 3600,
  };
  const grant = async (over: object = {}, head: object = {}): Promise<Json> => {
    const part = (value: object): string =>
      Buffer.from(JSON.stringify(value)).toString('base64url');
    const text = `${part({ alg: 'RS256', typ: 'JWT', ...head })}.${part({ ...claims, ...over })}`;
    const signature = createSign('RSA-SHA256')
      .update(text)
      .sign(account['private_key'] ?? '', 'base64url');
    const form = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: `${text}.${signature}`,
    });
    return (
      await post('/vertex/token', form.toString(), {
        'content-type': 'application/x-www-form-urlencoded',
      })
    ).body;
  };
  const { access_token: token } = await grant();
  expect(
    (
      await post(`${place}/google/models/gemini-2.5-flash:generateContent`, withConfig({}), {
        authorization: `Bearer ${String(token)}`,
      })
    ).status,
  ).toBe(200);
  expect(await grant({ aud: 'https://elsewhere' })).toMatchObject({
    error: 'invalid_grant',
    error_description: expect.stringContaining('audience'),
  });
  expect(await grant({ iss: 'nobody' })).toMatchObject({
    error_description: expect.stringContaining('account not found'),
  });
  expect(await grant({ exp: now + 7200 })).toMatchObject({
    error_description: expect.stringContaining('short-lived'),
  });
  expect(await grant({ scope: 'email' })).toMatchObject({
    error_description: expect.stringContaining('scope'),
  });
  expect(await grant({}, { kid: 'other' })).toMatchObject({
    error_description: expect.stringContaining('verifier'),
  });
});
