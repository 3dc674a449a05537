import { describe, expect, test } from 'vitest';
import { chatCall } from '../../../../test/support/vendor-call.ts';
import type { VendorCall } from '../../adapter.ts';
import { vendors } from '../../index.ts';
import { isFault } from '../fault.ts';
import { byteVectorText, vectorText } from './vectors.ts';

/** A call for embeddings. */
const call = (body: Record<string, unknown>, upstreamModel = 'up'): VendorCall => {
  const whole = { model: 'public/model', input: 'Hi', ...body };
  return { ...chatCall({}, upstreamModel), body: whole, bytes: Buffer.from(JSON.stringify(whole)) };
};

function embeddings(vendor: string) {
  const adapter = vendors.get(vendor)?.adapters.embeddings;
  if (adapter === undefined) throw new Error(`${vendor} makes no vectors`);
  return adapter;
}

const sent = (vendor: string, body: Record<string, unknown>, model?: string) => {
  const { path, body: bytes } = embeddings(vendor).ask(call(body, model));
  return { path, body: JSON.parse(bytes.toString('utf8')) };
};

describe('encodings', () => {
  test('numbers and base64 are each other’s', () => {
    expect(vectorText('[0.1,-0.2,0.3]', 'base64')).toBe('"zczMPc3MTL6amZk+"');
    expect(JSON.parse(vectorText('"zczMPc3MTL6amZk+"', 'float'))).toEqual(
      [0.1, -0.2, 0.3].map(Math.fround),
    );
  });

  test('what is already as asked keeps its bytes', () => {
    expect(vectorText('[ 1.0, 2e-05 ]', 'float')).toBe('[ 1.0, 2e-05 ]');
    expect(vectorText('"zczMPc3MTL6amZk+"', 'base64')).toBe('"zczMPc3MTL6amZk+"');
  });

  test('an escaped slash is a slash', () => {
    const raw = Buffer.from(Float32Array.of(-1.9921875).buffer).toString('base64');
    expect(vectorText(`"${raw.replaceAll('/', '\\/')}"`, 'float')).toBe('[-1.9921875]');
  });

  test('signed bytes are numbers', () => {
    const raw = `"${Buffer.from([255, 0, 127, 128]).toString('base64')}"`;
    expect(byteVectorText(raw, 'float')).toBe('[-1,0,127,-128]');
    expect(JSON.parse(vectorText(byteVectorText(raw, 'base64'), 'float'))).toEqual([
      -1, 0, 127, -128,
    ]);
  });
});

describe('requests', () => {
  test('pass byte for byte but for the model where the vendor’s format is the client’s', () => {
    const bytes = Buffer.from(
      '{ "model":"public/model","input" : ["é", "b"],  "dimensions": 3.0,"x_new":12345678901234567890 }',
    );
    const { body } = embeddings('openai').ask({ ...call({}), bytes });
    expect(body.toString()).toBe(
      '{ "model":"up","input" : ["é", "b"],  "dimensions": 3.0,"x_new":12345678901234567890 }',
    );
  });

  test.each([
    [
      'mistral',
      { dimensions: 64, user: 'u', encoding_format: 'base64' },
      { output_dimension: 64, encoding_format: 'base64' },
    ],
    ['voyage', { dimensions: 64, encoding_format: 'float' }, { output_dimension: 64 }],
    ['voyage', { encoding_format: 'base64' }, { encoding_format: 'base64' }],
    ['jina', { encoding_format: 'base64' }, { embedding_type: 'base64' }],
    ['qwen', { encoding_format: 'base64', dimensions: 64 }, { dimensions: 64 }],
    ['qwen', { encoding_format: 'float' }, { encoding_format: 'float' }],
    ['zhipu', { encoding_format: 'float', user: 'u' }, {}],
  ])('%s is asked in its own words: %j', (vendor, asked, own) => {
    expect(sent(vendor, asked).body).toEqual({ model: 'up', input: 'Hi', ...own });
  });

  test('each family behind Bedrock is asked in its maker’s words', () => {
    expect(sent('bedrock', { dimensions: 256 }, 'amazon.titan-embed-text-v2:0')).toEqual({
      path: '/model/amazon.titan-embed-text-v2%3A0/invoke',
      body: { inputText: 'Hi', dimensions: 256 },
    });
    expect(sent('bedrock', { input_type: 'search_query' }, 'eu.cohere.embed-v4:0').body).toEqual({
      texts: ['Hi'],
      input_type: 'search_query',
      embedding_types: ['float'],
    });
  });

  test('seeing models of Ark get each text as a part of its own request', () => {
    expect(sent('volcengine', { dimensions: 1024 }, 'doubao-embedding-vision-251215')).toEqual({
      path: '/embeddings/multimodal',
      body: {
        model: 'doubao-embedding-vision-251215',
        input: [{ type: 'text', text: 'Hi' }],
        dimensions: 1024,
      },
    });
    const reply = Buffer.from(
      '{"id":"1","data":{"embedding":[0.5,1.0],"object":"embedding"},"usage":{"prompt_tokens":3,"total_tokens":3}}',
    );
    const answer = embeddings('volcengine').read(
      reply,
      'application/json',
      call({}, 'doubao-embedding-vision-251215'),
    );
    if (isFault(answer)) throw new Error(answer.message);
    expect(answer.body.toString()).toContain(
      '"data":[{"object":"embedding","index":0,"embedding":[0.5,1.0]}]',
    );
    expect(answer.quantities).toEqual({ input: 3 });
  });

  test('C5: every vendor that reads text alone says so: its tokens are decoded before it is asked', () => {
    const silent: string[] = [];
    let textOnly = 0;
    for (const [vendor, { adapters: speaks }] of vendors) {
      if (speaks.embeddings?.textOnly === true) textOnly += 1;
      if (speaks.embeddings === undefined || speaks.embeddings.textOnly === true) continue;
      const body = speaks.embeddings.ask(call({ input: [[1, 2], [3]] })).body.toString();
      if (!body.includes('[[1,2],[3]]')) silent.push(vendor);
    }
    expect(silent).toEqual([]);
    expect(textOnly).toBeGreaterThan(10);
  });
});

describe('parts', () => {
  const texts = (count: number) => Array.from({ length: count }, (_, i) => `t${i}`);

  test('a request that the vendor takes is one; a list of tokens is one input', () => {
    expect(embeddings('qwen').split?.(call({ input: texts(10) }))).toBeUndefined();
    expect(embeddings('qwen').split?.(call({ input: 'Hi' }))).toBeUndefined();
    expect(
      embeddings('volcengine').split?.(call({ input: Array.from({ length: 300 }, () => 1) })),
    ).toBeUndefined();
  });

  test('parts keep everything but the inputs, and their answers are one', () => {
    const parts = embeddings('qwen').split?.(call({ input: texts(21), dimensions: 2, user: 'é' }));
    expect(parts?.calls.map(({ bytes }) => JSON.parse(bytes.toString('utf8')))).toEqual(
      [texts(10), texts(20).slice(10), ['t20']].map((input) => ({
        model: 'public/model',
        input,
        dimensions: 2,
        user: 'é',
      })),
    );
    const answers = [10, 10, 1].map((count, part) => {
      const data = texts(count).map((_, index) => ({
        object: 'embedding',
        index,
        embedding: [part, index],
      }));
      const usage = { prompt_tokens: count, total_tokens: count };
      const answer = embeddings('qwen').read(
        Buffer.from(JSON.stringify({ id: 'x', data, usage })),
        'application/json',
        call({}),
      );
      if (isFault(answer)) throw new Error(answer.message);
      return answer;
    });
    const joined = parts?.join(answers);
    const body = JSON.parse(joined?.body.toString('utf8') ?? '');
    expect(body).toMatchObject({
      object: 'list',
      model: 'public/model',
      usage: { prompt_tokens: 21, total_tokens: 21 },
    });
    expect(body.data.map(({ index }: { index: number }) => index)).toEqual(
      texts(21).map((_, i) => i),
    );
    expect(body.data[20].embedding).toEqual([2, 0]);
    expect(joined?.quantities).toEqual({ input: 21 });
    const [first, second, third] = answers;
    if (first === undefined || second === undefined || third === undefined)
      throw new Error('three answers');
    const uncounted = parts?.join([first, { ...second, quantities: undefined }, third]);
    expect(uncounted?.quantities).toBeUndefined();
    expect(JSON.parse(uncounted?.body.toString('utf8') ?? '')).not.toHaveProperty('usage');
  });
});

describe('answers', () => {
  test.each([
    ['no JSON', 'Bad gateway', 'protocol'],
    ['half a body', '{"object":"list","data":[{"embedding":[0.1,', 'protocol'],
    [
      'half of a body that ends with a brace',
      '{"object":"list","data":[{"embedding":[0.1]}',
      'protocol',
    ],
    ['no vectors', '{"object":"list","data":[]}', 'protocol'],
    ['an error', '{"error":{"message":"slow down","code":429}}', 'rate_limited'],
  ])('%s is a fault', (_, reply, kind) => {
    for (const vendor of ['openai', 'voyage'])
      expect(
        embeddings(vendor).read(Buffer.from(reply), 'application/json', call({})),
      ).toMatchObject({ kind });
  });

  test.each(['gemini', 'vertex', 'cohere', 'bedrock'])(
    'whatever %s answers, it is read or a fault',
    (vendor) => {
      for (const reply of [
        '',
        'x',
        '[]',
        '{}',
        '{"embeddings":1}',
        '{"embeddings":{"float":5}}',
        '{"predictions":[1]}',
        '{"embedding":',
        '{"message":"no"}',
      ])
        expect(() =>
          embeddings(vendor).read(Buffer.from(reply), 'application/json', call({})),
        ).not.toThrow();
    },
  );

  test('members that we do not know survive, ids of the vendor do not', () => {
    const reply =
      '\n  {"id":"v-1","object":"list","data":[{"object":"embedding","index":0,"embedding":[1.50]}],"model":"m","big":12345678901234567890}';
    const answer = embeddings('openai').read(Buffer.from(reply), 'application/json', call({}));
    if (isFault(answer)) throw new Error(answer.message);
    expect(answer.body.toString()).toBe(
      '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1.50]}],"model":"public/model","big":12345678901234567890}',
    );
    expect(answer).toMatchObject({ quantities: undefined, upstreamId: 'v-1', outputText: '' });
  });
});
