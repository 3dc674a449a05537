import { describe, expect, it } from 'vitest';
import { vendors } from '../../index.ts';
import type { VideoRequest } from '../../media-request.ts';
import type { TaskAdapter, VideoCall } from '../../task-adapter.ts';

const png = 'data:image/png;base64,iVBORw0KGgo=';
const first = { role: 'first', url: png } as const;
const last = { role: 'last', url: 'https://example.com/last.png' } as const;
const reference = { role: 'reference', url: 'https://example.com/cat.png' } as const;

type Wished = Partial<VideoRequest>;

function call(upstreamModel: string, wished: Wished = {}): VideoCall {
  const nothing = {
    negativePrompt: undefined,
    size: undefined,
    aspectRatio: undefined,
    resolution: undefined,
    audio: undefined,
    seed: undefined,
    images: [],
    more: {},
  };
  return {
    request: { prompt: 'a cat', seconds: 5, ...nothing, ...wished },
    taskId: 'video_1',
    publicModel: 'sora-2',
    upstreamModel,
  };
}

function adapterOf(vendor: string): TaskAdapter {
  const adapter = vendors.get(vendor)?.adapters.video;
  if (adapter === undefined) throw new Error(`${vendor} makes no videos`);
  return adapter;
}

/** Vendor, its model, a request → path, body, names of its price. */
const rows: readonly (readonly [string, string, Wished, string, object, readonly string[]])[] = [
  [
    'gemini',
    'veo-3.1-lite-generate-preview',
    { seconds: 6, size: '720x1280', seed: 7, images: [first] },
    '/models/veo-3.1-lite-generate-preview:predictLongRunning',
    {
      instances: [
        { prompt: 'a cat', image: { bytesBase64Encoded: 'iVBORw0KGgo=', mimeType: 'image/png' } },
      ],
      parameters: {
        sampleCount: 1,
        aspectRatio: '9:16',
        resolution: '720p',
        durationSeconds: 6,
        seed: 7,
      },
    },
    ['720p'],
  ],
  [
    'gemini',
    'veo-3.1-generate-preview',
    { seconds: 8, images: [{ role: 'reference', url: png }] },
    '/models/veo-3.1-generate-preview:predictLongRunning',
    {
      instances: [
        {
          prompt: 'a cat',
          referenceImages: [
            {
              image: { bytesBase64Encoded: 'iVBORw0KGgo=', mimeType: 'image/png' },
              referenceType: 'asset',
            },
          ],
        },
      ],
      parameters: { sampleCount: 1, resolution: '720p', durationSeconds: 8 },
    },
    ['720p'],
  ],
  [
    'vertex',
    'veo-3.1-generate-001',
    { seconds: 8, resolution: '4k', audio: false, negativePrompt: 'dogs' },
    '/models/veo-3.1-generate-001:predictLongRunning',
    {
      instances: [{ prompt: 'a cat' }],
      parameters: {
        sampleCount: 1,
        resolution: '4k',
        durationSeconds: 8,
        negativePrompt: 'dogs',
        generateAudio: false,
      },
    },
    ['4k'],
  ],
  [
    'kling',
    'kling-v3',
    { seconds: 15, aspectRatio: '1:1', audio: true, negativePrompt: 'dogs' },
    '/v1/videos/text2video',
    {
      model_name: 'kling-v3',
      prompt: 'a cat',
      negative_prompt: 'dogs',
      mode: 'std',
      sound: 'on',
      duration: '15',
      external_task_id: 'video_1',
      aspect_ratio: '1:1',
    },
    ['std+audio', '720p+audio', 'std', '720p'],
  ],
  [
    'kling',
    'kling-v2-6',
    { audio: true, images: [first, last] },
    '/v1/videos/image2video',
    {
      model_name: 'kling-v2-6',
      prompt: 'a cat',
      mode: 'pro',
      sound: 'on',
      duration: '5',
      external_task_id: 'video_1',
      image: 'iVBORw0KGgo=',
      image_tail: last.url,
    },
    ['pro+audio', '1080p+audio', 'pro', '1080p'],
  ],
  [
    'minimax',
    'MiniMax-Hailuo-02',
    { resolution: '512p', images: [first] },
    '/video_generation',
    {
      model: 'MiniMax-Hailuo-02',
      prompt: 'a cat',
      duration: 6,
      resolution: '512P',
      first_frame_image: png,
    },
    ['512p/6', '512p'],
  ],
  [
    'minimax',
    'MiniMax-H3',
    { images: [reference], aspectRatio: '9:16' },
    '/../v2/video_generation',
    {
      model: 'MiniMax-H3',
      content: [
        { type: 'text', text: 'a cat' },
        { type: 'image_url', image_url: { url: reference.url }, role: 'reference_image' },
      ],
      resolution: '2K',
      duration: 5,
      ratio: '9:16',
    },
    ['2k/5', '2k'],
  ],
  [
    'qwen',
    'wan2.6-t2v',
    { seconds: 15, size: '1920x1080', seed: 3 },
    '/../../api/v1/services/aigc/video-generation/video-synthesis',
    {
      model: 'wan2.6-t2v',
      input: { prompt: 'a cat' },
      parameters: { size: '1920*1080', duration: 15, seed: 3 },
    },
    ['1080p'],
  ],
  [
    'qwen',
    'wan2.6-i2v-flash',
    { audio: false, images: [first] },
    '/../../api/v1/services/aigc/video-generation/video-synthesis',
    {
      model: 'wan2.6-i2v-flash',
      input: { prompt: 'a cat', img_url: png },
      parameters: { resolution: '720P', duration: 5, audio: false },
    },
    ['720p'],
  ],
  [
    'qwen',
    'wan2.7-i2v',
    { seconds: 10, images: [first, last] },
    '/../../api/v1/services/aigc/video-generation/video-synthesis',
    {
      model: 'wan2.7-i2v',
      input: {
        prompt: 'a cat',
        media: [
          { type: 'first_frame', url: png },
          { type: 'last_frame', url: last.url },
        ],
      },
      parameters: { resolution: '720P', duration: 10 },
    },
    ['720p'],
  ],
  [
    'volcengine',
    'doubao-seedance-1-5-pro-251215',
    { seconds: 10, size: '864x496', audio: false, seed: 5, images: [first] },
    '/contents/generations/tasks',
    {
      model: 'doubao-seedance-1-5-pro-251215',
      content: [
        { type: 'text', text: 'a cat' },
        { type: 'image_url', image_url: { url: png }, role: 'first_frame' },
      ],
      resolution: '480p',
      ratio: '16:9',
      duration: 10,
      seed: 5,
      generate_audio: false,
    },
    ['480p+silent', 'silent', '480p'],
  ],
  [
    'xai',
    'grok-imagine-video',
    { resolution: '480p', aspectRatio: '3:2', images: [first] },
    '/videos/generations',
    {
      model: 'grok-imagine-video',
      prompt: 'a cat',
      duration: 5,
      resolution: '480p',
      aspect_ratio: '3:2',
      image: { url: png },
    },
    ['480p'],
  ],
  [
    'runway',
    'gen4.5',
    { seconds: 10, aspectRatio: '21:9', seed: 1, images: [first] },
    '/v1/image_to_video',
    {
      model: 'gen4.5',
      promptText: 'a cat',
      promptImage: png,
      ratio: '1584:672',
      duration: 10,
      seed: 1,
    },
    ['720p'],
  ],
  [
    'runway',
    'veo3.1',
    { seconds: 8, images: [first, last] },
    '/v1/image_to_video',
    {
      model: 'veo3.1',
      promptText: 'a cat',
      promptImage: [
        { uri: png, position: 'first' },
        { uri: last.url, position: 'last' },
      ],
      ratio: '1280:720',
      duration: 8,
    },
    ['720p'],
  ],
  [
    'zhipu',
    'cogvideox-3',
    { size: '1080x1920', audio: true, images: [first, last] },
    '/videos/generations',
    {
      model: 'cogvideox-3',
      prompt: 'a cat',
      image_url: [png, last.url],
      size: '1080x1920',
      duration: 5,
      with_audio: true,
      request_id: 'video_1',
    },
    ['1080p'],
  ],
  [
    'vidu',
    'viduq2-turbo',
    { images: [last, first] },
    '/ent/v2/start-end2video',
    {
      model: 'viduq2-turbo',
      prompt: 'a cat',
      images: [png, last.url],
      duration: 5,
      resolution: '720p',
      payload: 'video_1',
    },
    ['720p'],
  ],
  [
    'vidu',
    'viduq3-pro',
    { seconds: 15, aspectRatio: '3:4', audio: true },
    '/ent/v2/text2video',
    {
      model: 'viduq3-pro',
      prompt: 'a cat',
      duration: 15,
      resolution: '720p',
      aspect_ratio: '3:4',
      audio: true,
      payload: 'video_1',
    },
    ['720p'],
  ],
  [
    'jimeng',
    'jimeng_i2v_first_v30',
    { seconds: 10, seed: 4, images: [first] },
    '/?Action=CVSync2AsyncSubmitTask&Version=2022-08-31',
    {
      req_key: 'jimeng_i2v_first_v30',
      prompt: 'a cat',
      binary_data_base64: ['iVBORw0KGgo='],
      seed: 4,
      frames: 241,
    },
    ['720p'],
  ],
];

describe('a wish in the words of its vendor', () => {
  it.each(rows)('%s, %s', (vendor, model, wished, path, body, variants) => {
    const adapter = adapterOf(vendor);
    const wish = call(model, wished);
    expect(adapter.misfit?.(wish)).toBeUndefined();
    const ask = adapter.submit(wish);
    expect(ask.path).toBe(path);
    expect(JSON.parse(ask.body.toString('utf8'))).toEqual(body);
    expect(adapter.variants(wish)).toEqual(variants);
  });

  it.each<[string, string, Wished, string | undefined]>([
    ['openai', 'sora-2', {}, '720x1280'],
    ['openai', 'sora-2', { aspectRatio: '16:9' }, '1280x720'],
    ['openai-compatible', 'some-video', {}, undefined],
    ['zhipu', 'cogvideox-3', {}, '1280x720'],
    ['runway', 'gen4.5', { aspectRatio: '9:16' }, '720x1280'],
    ['qwen', 'wan2.6-t2v', { resolution: '1080p' }, '1920x1080'],
    ['qwen', 'wan2.6-i2v-flash', { images: [first] }, undefined],
    ['qwen', 'wan2.7-i2v', { images: [first] }, undefined],
  ])('of %s, %s asked for %j, has the size that is known', (vendor, model, wished, size) => {
    expect(adapterOf(vendor).size?.(call(model, wished))).toBe(size);
  });

  it('takes the headers along that a vendor insists on', () => {
    expect(adapterOf('qwen').submit(call('wan2.6-t2v')).headers).toMatchObject({
      'x-dashscope-async': 'enable',
    });
    const task = { upstreamId: 'a', upstreamModel: 'gen4.5', seconds: 5 };
    for (const ask of [
      adapterOf('runway').submit(call('gen4.5')),
      adapterOf('runway').poll(task),
      adapterOf('runway').cancel?.(task),
    ])
      expect(ask?.headers).toMatchObject({ 'x-runway-version': '2024-11-06' });
  });

  it('reserves for what is sold otherwise than by seconds', () => {
    const of = (wished: Wished) =>
      adapterOf('volcengine').quantitiesMax?.(call('doubao-seedance-2-0-260128', wished))?.output ??
      0;
    // The vendor's own count for five seconds of 1280 × 720.
    expect(of({ seconds: 5 })).toBeGreaterThanOrEqual(108_900);
    expect(of({ seconds: 5 })).toBeLessThan(108_900 * 1.02);
    expect(of({ seconds: 15, resolution: '4k' })).toBeGreaterThanOrEqual(
      Math.ceil((3840 * 2160 * 361) / 1024),
    );
    expect(
      adapterOf('xai').quantitiesMax?.(call('grok-imagine-video', { images: [first] })),
    ).toEqual({
      image: 1,
    });
  });
});

describe('what the specification sells', () => {
  const makes: readonly (readonly [string, string, readonly number[]])[] = [
    ['volcengine', 'doubao-seedance-2-0-fast-260128', [5, 10, 15]],
    ['volcengine', 'doubao-seedance-2-5-pro', [5, 10, 15, 20]],
    ['qwen', 'wan2.7-t2v', [5, 10, 15]],
    ['qwen', 'wan2.6-t2v', [5, 10, 15]],
    ['kling', 'kling-v3', [5, 10, 15]],
    ['kling', 'kling-v2-6', [5, 10]],
    ['gemini', 'veo-3.1-fast-generate-preview', [5]],
    ['minimax', 'MiniMax-Hailuo-2.3', [5, 10]],
    ['minimax', 'MiniMax-H3', [5, 10, 15]],
    ['xai', 'grok-imagine-video', [5, 10, 15]],
    ['runway', 'gen4.5', [5, 10]],
    ['zhipu', 'cogvideox-3', [5, 10]],
    ['vidu', 'viduq3-turbo', [5, 10, 15]],
  ];

  it.each(makes)('of %s, %s makes %j seconds', (vendor, model, lengths) => {
    const adapter = adapterOf(vendor);
    const fitting = [5, 10, 15, 20].filter(
      (seconds) => adapter.misfit?.(call(model, { seconds })) === undefined,
    );
    expect(fitting).toEqual(lengths);
  });

  it('is made a second longer where the model has no such length, and never shorter', () => {
    const veo = JSON.parse(
      adapterOf('gemini').submit(call('veo-3.1-generate-preview')).body.toString('utf8'),
    );
    expect(veo.parameters.durationSeconds).toBe(6);
    expect(adapterOf('minimax').variants(call('MiniMax-Hailuo-2.3'))).toEqual(['768p/6', '768p']);
  });
});

describe('what a model does not make', () => {
  const refused: readonly (readonly [string, string, Wished, string, string])[] = [
    [
      'gemini',
      'veo-3.1-generate-preview',
      { seconds: 20 },
      'duration',
      'allowed are 4, 6, 8 seconds',
    ],
    [
      'gemini',
      'veo-3.1-generate-preview',
      { seconds: 6, resolution: '1080p' },
      'duration',
      'allowed at 1080p are 8 seconds',
    ],
    [
      'gemini',
      'veo-3.1-lite-generate-preview',
      { seconds: 8, resolution: '4k' },
      'resolution',
      'allowed are 720p, 1080p',
    ],
    [
      'gemini',
      'veo-3.1-generate-preview',
      { audio: false },
      'audio',
      'only videos with sound are made',
    ],
    [
      'gemini',
      'veo-3.1-lite-generate-preview',
      { images: [reference] },
      'image',
      'reference images cannot be taken',
    ],
    [
      'gemini',
      'veo-3.1-generate-preview',
      { images: [reference] },
      'duration',
      'allowed with reference images are 8 seconds',
    ],
    [
      'vertex',
      'veo-3.1-generate-001',
      { seconds: 8, images: [first, reference] },
      'image',
      'frames and reference images exclude each other',
    ],
    [
      'gemini',
      'veo-3.1-generate-preview',
      { images: [last] },
      'image',
      'a last frame needs a first frame',
    ],
    ['kling', 'kling-v3', { seconds: 20 }, 'duration', 'allowed are 3 to 15 seconds'],
    ['kling', 'kling-v3', { aspectRatio: '21:9' }, 'aspect_ratio', 'allowed are 16:9, 9:16, 1:1'],
    [
      'kling',
      'kling-v3',
      { prompt: 'x'.repeat(2_501) },
      'prompt',
      'at most 2500 characters are allowed',
    ],
    ['kling', 'kling-v2-5-turbo', { audio: true }, 'audio', 'only videos without sound are made'],
    [
      'minimax',
      'MiniMax-Hailuo-2.3',
      { seconds: 10, resolution: '1080p' },
      'duration',
      'allowed at 1080p are 6 seconds',
    ],
    [
      'minimax',
      'MiniMax-Hailuo-02',
      { resolution: '512p' },
      'resolution',
      'allowed are 768p, 1080p',
    ],
    ['minimax', 'MiniMax-Hailuo-2.3-Fast', {}, 'image', 'an image is needed'],
    ['minimax', 'MiniMax-H3', { size: '1280x720' }, 'size', 'allowed are 2k'],
    [
      'volcengine',
      'doubao-seedance-2-0-260128',
      { images: [first, reference] },
      'image',
      'frames and reference images exclude each other',
    ],
    [
      'volcengine',
      'doubao-seedance-2-0-260128',
      { size: '1000x300' },
      'size',
      'allowed are sizes of 16:9, 9:16, 1:1, 4:3, 3:4, 21:9',
    ],
    ['runway', 'gen4.5', { aspectRatio: '1:1' }, 'aspect_ratio', 'allowed are 16:9, 9:16'],
    ['runway', 'gen4_turbo', {}, 'image', 'an image is needed'],
    [
      'zhipu',
      'cogvideox-3',
      { resolution: '4k', aspectRatio: '9:16' },
      'size',
      'allowed are 1280x720, 720x1280, 1024x1024, 1920x1080, 1080x1920, 3840x2160',
    ],
  ];

  it.each(refused)('%s, %s: %j', (vendor, model, wished, param, why) => {
    expect(adapterOf(vendor).misfit?.(call(model, wished))).toEqual({ param, why });
  });
});
