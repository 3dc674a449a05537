import { expect, test } from 'vitest';
import { type VendorCall, type ImageAdapter, isPending } from '../../adapter.ts';
import type { ImageSize, ImageRequest } from '../../media-request.ts';
import { isFault } from '../fault.ts';
import { completedEvents } from './completed.ts';
import { dashscopeImages } from './dashscope.ts';
import { geminiImages, imagen } from './gemini.ts';
import { fireworksImages, openrouterImages, siliconflowImages, togetherImages } from './hosts.ts';
import { streamedImages } from './openai-stream.ts';
import { gptImages, openaiImages } from './openai.ts';
import { seedream } from './seedream.ts';
import { xaiEdits, xaiImages } from './xai.ts';
import { vendorCall } from '../../../../test/support/vendor-call.ts';

const wish: ImageRequest = {
  prompt: 'a cat',
  n: 1,
  size: undefined,
  quality: undefined,
  returns: 'url',
  partials: 0,
  images: [],
  mask: undefined,
};

function callFor(
  upstreamModel: string,
  more: Partial<ImageRequest> = {},
  body = '{"model":"public","prompt":"a cat"}',
): VendorCall {
  return vendorCall(JSON.parse(body), {
    bytes: Buffer.from(body),
    upstreamModel,
    includeUsage: true,
    image: { ...wish, ...more },
    answerId: 'img-1',
    created: 1_700_000_000,
  });
}

const asked = (adapter: ImageAdapter, call: VendorCall) =>
  JSON.parse(adapter.ask(call).body.toString('utf8'));
const size = (text: string): ImageSize => {
  const [width = 0, height = 0] = text.split('x').map(Number);
  return { width, height };
};

test('what OpenAI is asked are the bytes that the client sent, but for what has to be said otherwise', () => {
  const body =
    '{ "model" : "public", "prompt":"\\u00e9 cat", "n": 1, "seed": 12345678901234567890, "style":"vivid","response_format":"url", "quality":"hd" }';
  const sent = openaiImages(gptImages)
    .ask(callFor('gpt-image-2', { quality: 'hd' }, body))
    .body.toString('utf8');
  expect(sent).toBe(
    '{ "model" : "gpt-image-2", "prompt":"\\u00e9 cat", "n": 1, "seed": 12345678901234567890, "quality":"high" }',
  );
});

test.each([
  ['gpt-image-2', '1792x1024', '1792x1024'],
  ['gpt-image-2', '256x256', '1024x1024'],
  ['gpt-image-2', '512x512', '1024x1024'],
  ['gpt-image-2', '640x480', '960x720'],
  ['gpt-image-2', '4096x4096', '2880x2880'],
  ['gpt-image-1.5', '1792x1024', '1536x1024'],
  ['gpt-image-1-mini', '256x256', '1024x1024'],
])('%s asked for %s makes %s', (model, from, to) => {
  expect(asked(openaiImages(gptImages), callFor(model, { size: size(from) })).size).toBe(to);
});

test.each([
  ['doubao-seedream-4-5-251128', '1024x1024', '1920x1920'],
  ['doubao-seedream-4-5-251128', '2560x1440', '2560x1440'],
  ['doubao-seedream-4-0-250828', '1024x1024', '1024x1024'],
  ['doubao-seedream-4-0-250828', '256x256', '960x960'],
])('%s asked for %s makes %s, which is as many pixels as it makes at least', (model, from, to) => {
  expect(asked(seedream([]), callFor(model, { size: size(from) })).size).toBe(to);
});

test.each([
  ['qwen-image-plus', '1024x1024', '1328*1328'],
  ['qwen-image-plus', '1792x1024', '1664*928'],
  ['qwen-image-plus', '1024x1536', '1140*1472'],
  ['qwen-image-2.0', '1536x1024', '1536*1024'],
  ['wan2.6-image', '1792x1024', '1696*960'],
])('%s asked for %s makes %s', (model, from, to) => {
  expect(asked(dashscopeImages([]), callFor(model, { size: size(from) })).parameters.size).toBe(to);
});

test.each([
  ['gemini-3-pro-image', '1024x1024', undefined, { aspectRatio: '1:1' }],
  ['gemini-3-pro-image', '1792x1024', undefined, { aspectRatio: '16:9' }],
  ['gemini-3-pro-image', '1024x1024', 'hd', { aspectRatio: '1:1', imageSize: '2K' }],
  ['gemini-3-pro-image', '2048x2048', undefined, { aspectRatio: '1:1', imageSize: '2K' }],
  ['gemini-3-pro-image', '4096x4096', undefined, { aspectRatio: '1:1', imageSize: '4K' }],
  ['gemini-2.5-flash-image', '4096x4096', 'hd', { aspectRatio: '1:1' }],
])(
  '%s asked for %s (%s) is told a shape, and a resolution if it knows any',
  (model, from, quality, config) => {
    expect(
      asked(geminiImages, callFor(model, { size: size(from), quality })).generationConfig
        .imageConfig,
    ).toEqual(config);
  },
);

test('others are told in their own words', () => {
  const wide = { size: size('1792x1024'), n: 2 };
  expect(
    asked(xaiImages([]), callFor('grok-imagine-image', { ...wide, quality: 'hd' })),
  ).toMatchObject({
    aspect_ratio: '16:9',
    n: 2,
    response_format: 'url',
  });
  expect(
    asked(xaiImages([]), callFor('grok-imagine-image', { quality: 'hd' })).quality,
  ).toBeUndefined();
  expect(
    asked(
      xaiImages([]),
      callFor('grok-imagine-image-2.0', { quality: 'hd', size: size('2048x2048') }),
    ),
  ).toMatchObject({
    quality: 'medium',
    resolution: '2k',
  });
  expect(asked(imagen, callFor('imagen-4.0-generate-001', wide)).parameters).toMatchObject({
    sampleCount: 2,
    aspectRatio: '16:9',
  });
  expect(
    asked(togetherImages([]), callFor('flux', { ...wide, returns: 'b64_json' })),
  ).toMatchObject({
    width: 1_792,
    height: 1_024,
    response_format: 'base64',
  });
  expect(asked(siliconflowImages([]), callFor('Kwai-Kolors/Kolors', wide))).toMatchObject({
    batch_size: 2,
  });
  expect(fireworksImages([]).ask(callFor('accounts/fireworks/models/flux', wide)).path).toBe(
    '/workflows/accounts/fireworks/models/flux/text_to_image',
  );
  expect(asked(openrouterImages([]), callFor('google/gemini', wide))).toMatchObject({
    aspect_ratio: '16:9',
  });
});

test('what a client sends beside the members of the price does not make more than is paid for', () => {
  const body = JSON.stringify({
    ...{
      model: 'public',
      prompt: 'a cat',
      user: 'u',
      seed: 7,
      resolution: '2k',
      size: '1024x1024',
      width: 1_792,
      height: 1_792,
    },
    sequential_image_generation: 'auto',
    sequential_image_generation_options: { max_images: 15 },
  });
  for (const adapter of [xaiImages([]), xaiEdits([])]) {
    const model = 'grok-imagine-image-2.0';
    const sent = (wide?: string) =>
      asked(adapter, callFor(model, wide === undefined ? {} : { size: size(wide) }, body));
    expect(sent()).not.toHaveProperty('resolution');
    expect(sent('1024x1024')).not.toHaveProperty('resolution');
    expect(sent('1024x1024')).toMatchObject({ aspect_ratio: '1:1', user: 'u' });
    expect(sent('2048x2048')).toMatchObject({ resolution: '2k' });
  }
  const routed = asked(openrouterImages([]), callFor('google/gemini', {}, body));
  expect(routed).toMatchObject({ seed: 7 });
  expect(routed).not.toHaveProperty('resolution');
  const together = asked(togetherImages([]), callFor('flux', {}, body));
  expect(together).not.toHaveProperty('width');
  expect(together).not.toHaveProperty('height');
  const ark = asked(seedream([]), callFor('doubao-seedream-4-5-251128', {}, body));
  expect(ark).toMatchObject({ seed: 7 });
  expect(Object.keys(ark).filter((name) => name.startsWith('sequential'))).toEqual([]);
});

test('a vendor that makes fewer at a time is asked more often', () => {
  const n = { n: 10 };
  expect(seedream([]).split?.(callFor('seedream', n))?.calls).toHaveLength(10);
  expect(geminiImages.split?.(callFor('gemini', n))?.calls).toHaveLength(10);
  expect(imagen.split?.(callFor('imagen', n))?.calls.map(({ image }) => image?.n)).toEqual([
    4, 4, 2,
  ]);
  expect(
    dashscopeImages([])
      .split?.(callFor('qwen-image-2.0', n))
      ?.calls.map(({ image }) => image?.n),
  ).toEqual([6, 4]);
  expect(openaiImages(gptImages).split?.(callFor('gpt-image-2', n))).toBeUndefined();
  // Ten of these would be larger than an answer may be.
  expect(
    openaiImages(gptImages).split?.(callFor('gpt-image-2', { ...n, size: size('3840x2160') }))
      ?.calls,
  ).toHaveLength(10);
});

const refusals: readonly (readonly [string, ImageAdapter, object, string])[] = [
  [
    'a prompt that was blocked',
    geminiImages,
    { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } },
    'content_policy',
  ],
  [
    'a picture that was held back',
    geminiImages,
    { candidates: [{ finishReason: 'IMAGE_SAFETY' }] },
    'content_policy',
  ],
  [
    'words instead of a picture',
    geminiImages,
    {
      candidates: [{ content: { parts: [{ text: 'I would rather not.' }] }, finishReason: 'STOP' }],
    },
    'content_policy',
  ],
  [
    'tokens that ran out',
    geminiImages,
    { candidates: [{ finishReason: 'MAX_TOKENS' }] },
    'server_error',
  ],
  ['nothing at all', geminiImages, {}, 'protocol'],
  [
    'all that was made, filtered',
    imagen,
    { predictions: [{ raiFilteredReason: 'Unsafe.' }] },
    'content_policy',
  ],
  [
    'an item that is an error',
    seedream([]),
    { data: [{ error: { code: 'OutputImageSensitiveContentDetected', message: 'no' } }] },
    'content_policy',
  ],
  [
    'a picture that was moderated',
    xaiImages([]),
    { data: [{ url: '', respect_moderation: false }] },
    'content_policy',
  ],
  [
    'a workflow that filtered',
    fireworksImages([]),
    { finishReason: 'CONTENT_FILTERED', base64: [] },
    'content_policy',
  ],
  [
    'a code beside a message',
    dashscopeImages([]),
    { code: 'InternalError', message: 'no' },
    'server_error',
  ],
  ['an empty list', openaiImages(), { data: [] }, 'protocol'],
];

test.each(refusals)('a good status with %s is a fault', (_what, adapter, reply, kind) => {
  const read = adapter.read(
    Buffer.from(JSON.stringify(reply)),
    'application/json',
    callFor('model'),
  );
  expect(isPending(read) ? read : isFault(read) && read.kind).toBe(kind);
});

test('what a vendor charges us is told to nobody', () => {
  const reply = {
    data: [{ url: 'https://imgen.x.ai/a.jpeg', mime_type: 'image/jpeg' }],
    usage: { cost_in_usd_ticks: 200_000_000 },
  };
  const read = xaiImages([]).read(
    Buffer.from(JSON.stringify(reply)),
    'application/json',
    callFor('grok-imagine-image'),
  );
  if (isPending(read) || isFault(read)) throw new Error('it was read');
  expect(read.body.toString('utf8')).toBe('{"created":1700000000}');
  expect(read.pictures).toEqual([{ from: { url: 'https://imgen.x.ai/a.jpeg' } }]);
});

test('usage has OpenAI’s names, and is left out where the kinds of its tokens are not known', () => {
  const read = (usage: object, image: Partial<ImageRequest> = {}): unknown => {
    const answer = openrouterImages([]).read(
      Buffer.from(JSON.stringify({ created: 1, data: [{ b64_json: 'aGk=' }], usage })),
      'application/json',
      callFor('google/gemini-2.5-flash-image', image),
    );
    if (isPending(answer) || isFault(answer)) throw new Error('it was read');
    return JSON.parse(answer.body.toString('utf8')).usage;
  };
  const input = { name: 'a.png', bytes: Buffer.from('a'), width: 1, height: 1 };
  const image = { images: [{ ...input, type: 'image/png' as const }] };
  const told = { prompt_tokens: 5, completion_tokens: 1_120, total_tokens: 1_125, cost: 0.03 };
  const drawn = { completion_tokens_details: { reasoning_tokens: 0, image_tokens: 1_120 } };
  const usage = {
    input_tokens: 5,
    input_tokens_details: { text_tokens: 5, image_tokens: 0 },
    output_tokens: 1_120,
    output_tokens_details: { text_tokens: 0, image_tokens: 1_120 },
    total_tokens: 1_125,
  };
  expect(read({ ...told, ...drawn })).toEqual(usage);
  expect(read(told, image)).toBeUndefined();
  expect(read({ ...told, prompt_tokens_details: { image_tokens: 3 } }, image)).toEqual({
    ...usage,
    input_tokens_details: { text_tokens: 2, image_tokens: 3 },
  });
  expect(read({ total_tokens: 1_125 })).toBeUndefined();
  const own = {
    ...usage,
    input_tokens_details: { text_tokens: 2, image_tokens: 3, cached_tokens: 1 },
  };
  expect(read({ ...own, cost: 0.03 }, image)).toEqual(own);
});

test('the usage of several answers is left out where the kinds of one answer’s tokens are not known', () => {
  const input = { name: 'a.png', bytes: Buffer.from('a'), width: 1, height: 1 };
  const images = [{ ...input, type: 'image/png' as const }];
  const call = callFor('gpt-image-2', { n: 11, images });
  const parts = openaiImages(gptImages).split?.(call);
  const told = { input_tokens: 5, output_tokens: 100, total_tokens: 105 };
  const details = { input_tokens_details: { text_tokens: 2, image_tokens: 3 } };
  const joined = (...usages: readonly object[]): unknown => {
    const answers = usages.map((usage) => {
      const reply = Buffer.from(JSON.stringify({ data: [{ b64_json: 'aGk=' }], usage }));
      const answer = openaiImages(gptImages).read(reply, 'application/json', call);
      if (isPending(answer) || isFault(answer)) throw new Error('it was read');
      return answer;
    });
    return JSON.parse(parts?.join(answers).body.toString('utf8') ?? '').usage;
  };
  expect(joined(told, told)).toBeUndefined();
  expect(joined({ ...told, ...details }, told)).toBeUndefined();
  expect(joined({ ...told, ...details }, { ...told, ...details })).toMatchObject({
    input_tokens: 10,
    input_tokens_details: { text_tokens: 4, image_tokens: 6 },
    total_tokens: 210,
  });
});

const event = (type: string, more: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, b64_json: 'aGk=', ...more })}\n\n`;
const stream = (text: string, contentType = 'text/event-stream') => {
  const translator = streamedImages(openaiImages(gptImages)).stream(
    { ...callFor('gpt-image-2'), stream: true },
    contentType,
  );
  let said = '';
  for (const byte of Buffer.from(text)) said += translator.push(Buffer.from([byte]));
  return { said: said + translator.end(), meter: translator.meter };
};

test('a stream is the vendor’s own, byte by byte, and its count is that of its end', () => {
  const usage = {
    input_tokens: 5,
    output_tokens: 300,
    input_tokens_details: { text_tokens: 5, image_tokens: 0 },
  };
  const text =
    event('image_generation.partial_image') + event('image_generation.completed', { usage });
  const { said, meter } = stream(text);
  expect(said).toBe(text);
  expect(meter).toMatchObject({
    finished: true,
    done: true,
    outputBytes: 2,
    quantities: { input: 5, image_output: 300, image: 1 },
  });
});

test('a stream that breaks, or says that it failed, is a fault', () => {
  expect(stream(event('image_generation.partial_image')).meter).toMatchObject({
    finished: false,
    fault: { kind: 'protocol' },
  });
  const failed = `event: error\ndata: {"type":"error","error":{"type":"server_error","code":"server_error","message":"no"}}\n\n`;
  expect(stream(failed).meter.fault).toMatchObject({ kind: 'server_error' });
});

test('an answer that is no stream although one was asked for becomes its last event', () => {
  const { said, meter } = stream('{"created":1,"data":[{"b64_json":"aGk="}]}', 'application/json');
  expect(said).toContain(
    'event: image_generation.completed\ndata: {"type":"image_generation.completed","b64_json":"aGk="',
  );
  expect(JSON.parse(said.slice(said.indexOf('{')))).toMatchObject({
    created_at: 1,
    size: 'auto',
    quality: 'auto',
    background: 'auto',
    output_format: 'png',
    usage: { total_tokens: 0 },
  });
  expect(meter).toMatchObject({ finished: true, quantities: { image: 1 } });
});

test('an event has the words of OpenAI’s events for what a vendor told or was asked', () => {
  const events = (told: object, more: Partial<Parameters<typeof completedEvents>[1]>): unknown[] =>
    completedEvents([{ b64_json: 'UklGRg==' }], {
      kind: 'image_edit',
      told: { created: 1, ...told },
      request: { size: size('1024x1536'), quality: 'hd' },
      body: { background: 'opaque', output_format: 'png' },
      quantities: { input: 5, image_output: 300, image: 1 },
      ...more,
    })
      .split('\n\n')
      .flatMap((block) => (block === '' ? [] : JSON.parse(block.slice(block.indexOf('{')))));
  const usage = { input_tokens: 5, output_tokens: 300, total_tokens: 305 };
  const asked = { size: '1024x1536', quality: 'high', background: 'opaque' };
  // The format is that of the bytes.
  expect(events({}, {})).toMatchObject([{ ...asked, output_format: 'webp', usage }]);
  expect(events({ quality: 'low', size: '2048x2048' }, {})).toMatchObject([
    { ...asked, quality: 'low' },
  ]);
  expect(events({}, { dropped: ['quality', 'background'] })).toMatchObject([
    { ...asked, quality: 'auto', background: 'auto' },
  ]);
  expect(events({}, { request: { size: size('2048x2048'), quality: 'max' } })).toMatchObject([
    { size: 'auto', quality: 'auto' },
  ]);
});
