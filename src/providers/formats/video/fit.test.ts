import { expect, it } from 'vitest';
import type { VideoRequest } from '../../media-request.ts';
import { fit, from, isMisfit, type VideoRange } from './fit.ts';

const range: VideoRange = {
  models: /./,
  seconds: from(4, 15),
  resolutions: ['480p', '720p', '1080p', '4k'],
  usual: '720p',
  ratios: ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9'],
  images: { first: 1 },
  audio: 'either',
  promptMax: 100,
};

const wish: VideoRequest = {
  prompt: 'a cat',
  seconds: 5,
  negativePrompt: undefined,
  size: undefined,
  aspectRatio: undefined,
  resolution: undefined,
  audio: undefined,
  seed: undefined,
  images: [],
  more: {},
};

const fitted = (wished: Partial<VideoRequest>, made: Partial<VideoRange> = {}) =>
  fit(
    {
      request: { ...wish, ...wished },
      taskId: 'video_1',
      publicModel: 'sora-2',
      upstreamModel: 'm',
    },
    { ...range, ...made },
  );

it.each([
  ['1280x720', '720p', '16:9'],
  ['720x1280', '720p', '9:16'],
  ['1024x1792', '1080p', '9:16'],
  ['1792x1024', '1080p', '16:9'],
  ['864x496', '480p', '16:9'],
  ['1112x834', '720p', '4:3'],
  ['1104x832', '720p', '4:3'],
  ['960x960', '720p', '1:1'],
  ['1470x630', '720p', '21:9'],
  ['1920x1088', '1080p', '16:9'],
  ['3840x2160', '4k', '16:9'],
])('a size of %s is made in %s, %s', (size, resolution, ratio) => {
  expect(fitted({ size })).toEqual({ seconds: 5, resolution, ratio });
});

it.each([['2560x1440'], ['320x180'], ['7680x4320'], ['1000x200']])(
  'a size of %s has nothing near it',
  (size) => {
    expect(fitted({ size })).toMatchObject({ param: 'size' });
  },
);

it('makes nothing of what a model lacks', () => {
  expect(fitted({ resolution: '2k' })).toEqual({
    param: 'resolution',
    why: 'allowed are 480p, 720p, 1080p, 4k',
  });
  expect(fitted({ seconds: 16 })).toEqual({
    param: 'duration',
    why: 'allowed are 4 to 15 seconds',
  });
  expect(fitted({ seconds: 5 }, { seconds: [6, 10] })).toMatchObject({ seconds: 6 });
  expect(fitted({ seconds: 7 }, { seconds: [6, 10] })).toEqual({
    param: 'duration',
    why: 'allowed are 6, 10 seconds',
  });
});

it('lets the first picture decide the shape where the model has no word for another', () => {
  const images = [{ role: 'first', url: 'https://example.com/a.png' }] as const;
  expect(fitted({ images, size: '720x1280' }, { ratios: ['16:9'] })).toEqual({
    seconds: 5,
    resolution: '720p',
    ratio: undefined,
  });
  expect(isMisfit(fitted({ size: '720x1280' }, { ratios: ['16:9'] }))).toBe(true);
});
