import { type ChannelTarget, channelLine, modelLine } from '../catalog-lines.ts';

interface SimVideoModel {
  readonly id: string;
  readonly ownedBy: string;
  readonly durations: string;
  readonly price: string;
  /** The vendors that sell it, and their ids for it. */
  readonly from: readonly { readonly vendor: string; readonly upstream: string }[];
}

const span = (least: number, most: number): string =>
  Array.from({ length: most - least + 1 }, (_, i) => least + i).join(', ');
const own = (vendor: string, upstream: string): SimVideoModel['from'] => [{ vendor, upstream }];

const fast = { vendor: 'volcengine', upstream: 'doubao-seedance-2-0-fast-260128' };
const whole = { vendor: 'volcengine', upstream: 'doubao-seedance-2-0-260128' };
const long = { vendor: 'volcengine', upstream: 'doubao-seedance-2-5-pro' };
const kling = { vendor: 'kling', upstream: 'kling-v3' };

/**
 * Video models, at list prices of November 2026, US dollars at 7.1 yuan. No vendor still has the
 * first two ids; other vendors' models of the same lengths serve them.
 */
export const videoModels: readonly SimVideoModel[] = [
  {
    id: 'sora-2',
    ownedBy: 'openai',
    durations: '5, 10, 15, 20',
    price: 'second: 0.71',
    from: [fast, kling, long],
  },
  {
    id: 'sora-2-pro',
    ownedBy: 'openai',
    durations: '5, 10, 15, 20',
    price: 'second: 2.13, by: { 1080p: 3.55, pro: 3.55 }',
    from: [whole, kling, long],
  },
  {
    id: 'veo-3.1-fast',
    ownedBy: 'google',
    durations: '4, 6, 8',
    price: 'second: 0.71, by: { 720p: 0.71, 1080p: 0.852, 4k: 2.13 }',
    from: own('gemini', 'veo-3.1-fast-generate-preview'),
  },
  {
    id: 'veo-3.1',
    ownedBy: 'google',
    durations: '4, 6, 8',
    price: 'second: 2.84, by: { 720p: 2.84, 1080p: 2.84, 4k: 4.26 }',
    from: own('vertex', 'veo-3.1-generate-001'),
  },
  {
    id: 'kling-v3',
    ownedBy: 'kuaishou',
    durations: span(3, 15),
    price: 'second: 0.5964, by: { std: 0.5964, std+audio: 0.8946, pro: 0.7952, pro+audio: 1.1928 }',
    from: own('kling', 'kling-v3'),
  },
  {
    id: 'MiniMax-Hailuo-02',
    ownedBy: 'minimax',
    durations: '6, 10',
    price:
      'request: 3.976, by: { 512p/6: 0.71, 512p/10: 1.065, 768p/6: 1.988, 768p/10: 3.976, 1080p/6: 3.479 }',
    from: own('minimax', 'MiniMax-Hailuo-02'),
  },
  {
    id: 'MiniMax-H3',
    ownedBy: 'minimax',
    durations: span(5, 15),
    price: 'second: 0.923',
    from: own('minimax', 'MiniMax-H3'),
  },
  {
    id: 'wan2.6-t2v',
    ownedBy: 'alibaba',
    durations: '5, 10, 15',
    price: 'second: 0.71, by: { 720p: 0.71, 1080p: 1.065 }',
    from: own('qwen', 'wan2.6-t2v'),
  },
  {
    id: 'wan2.7-i2v',
    ownedBy: 'alibaba',
    durations: span(2, 15),
    price: 'second: 0.71, by: { 720p: 0.71, 1080p: 1.065 }',
    from: own('qwen', 'wan2.7-i2v'),
  },
  {
    id: 'seedance-2.0-fast',
    ownedBy: 'bytedance',
    durations: span(4, 15),
    price: 'output: 39.76',
    from: [fast],
  },
  {
    id: 'grok-imagine-video',
    ownedBy: 'xai',
    durations: span(1, 15),
    price: 'second: 0.497, image: 0.0142, by: { 480p: 0.355, 720p: 0.497 }',
    from: own('xai', 'grok-imagine-video'),
  },
  {
    id: 'gen4.5',
    ownedBy: 'runway',
    durations: span(2, 10),
    price: 'second: 0.852',
    from: own('runway', 'gen4.5'),
  },
  {
    id: 'cogvideox-3',
    ownedBy: 'zhipu',
    durations: '5, 10',
    price: 'request: 1',
    from: own('zhipu', 'cogvideox-3'),
  },
  {
    id: 'viduq3-turbo',
    ownedBy: 'shengshu',
    durations: span(1, 16),
    price: 'second: 0.426, by: { 540p: 0.284, 1080p: 0.568 }',
    from: own('vidu', 'viduq3-turbo'),
  },
  {
    id: 'jimeng-3.0',
    ownedBy: 'bytedance',
    durations: '5, 10',
    price: 'second: 0.28',
    from: own('jimeng', 'jimeng_t2v_v30'),
  },
];

/** Their lines in a configuration file. */
export const videoModelLines = (): string[] =>
  videoModels.map((model) =>
    modelLine(model, 'video', `durations: [${model.durations}]`, model.price),
  );

/** A channel for each model of each vendor, so that a failure of one does not affect the others. */
export const videoChannelLines = (targetOf: (vendor: string) => ChannelTarget): string[] =>
  videoModels.flatMap(({ id, from }) =>
    from.map(({ vendor, upstream }) =>
      channelLine(`"sim-${vendor}-${upstream}-${id}"`, targetOf(vendor), [{ id, upstream }]),
    ),
  );
