import { type Bytes } from '../../../base/json.ts';
import { describe, expect, it } from 'vitest';
import type { VideoRequest } from '../../media-request.ts';
import type { AcceptedTask, VideoCall } from '../../task-adapter.ts';
import { openAiVideos } from './openai.ts';

const strict = openAiVideos();
const wordy = openAiVideos({ ownWords: true });
const task: AcceptedTask = { upstreamId: 'video_1/x', upstreamModel: 'sora-2', seconds: 8 };
const none = {
  negativePrompt: undefined,
  size: undefined,
  aspectRatio: undefined,
  resolution: undefined,
  audio: undefined,
  seed: undefined,
};
const wish: VideoRequest = { ...none, prompt: 'A fox', seconds: 8, images: [], more: {} };
const call = (more: Partial<VideoRequest> = {}): VideoCall => ({
  request: { ...wish, ...more },
  taskId: 'video_ours',
  publicModel: 'film',
  upstreamModel: 'sora-2',
});
const bytes = (value: unknown): Buffer =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const bodyOf = ({ body }: { readonly body: Bytes }): unknown => JSON.parse(body.toString('utf8'));
const first = { role: 'first', url: 'https://example.com/a.png' } as const;

describe('a submission', () => {
  it('says seconds as text, a size where there is one, and nothing else', () => {
    expect(bodyOf(strict.submit(call()))).toEqual({
      model: 'sora-2',
      prompt: 'A fox',
      seconds: '8',
    });
    expect(bodyOf(strict.submit(call({ size: '1280x720', images: [first] })))).toEqual({
      ...{ model: 'sora-2', prompt: 'A fox', seconds: '8', size: '1280x720' },
      input_reference: { image_url: first.url },
    });
  });

  it('says to servers of more words what the format has none for', () => {
    const more = {
      negativePrompt: 'rain',
      audio: true,
      seed: 7,
      images: [first],
      more: { n: 4, callback_url: 'https://example.com', metadata: { n: 4 } },
    };
    expect(bodyOf(wordy.submit(call(more)))).toEqual({
      ...{
        model: 'sora-2',
        prompt: 'A fox',
        seconds: '8',
        duration: 8,
        image: first.url,
        images: [first.url],
      },
      metadata: { negative_prompt: 'rain', generate_audio: true, seed: 7 },
    });
  });

  it('with a size has its resolution, whatever else is asked for', () => {
    const shape = { size: '1792x1024', resolution: '720p' };
    expect(strict.variants(call(shape))).toEqual(['1792x1024', '1024p/8', '1024p']);
    expect(strict.misfit?.(call(shape))).toBeUndefined();
    expect(bodyOf(wordy.submit(call(shape)))).not.toHaveProperty('metadata');
    const same = { size: '3840x2160', resolution: '4k' };
    expect(wordy.variants(call(same))).toContain('4k');
    expect(bodyOf(wordy.submit(call(same)))).toMatchObject({ metadata: { resolution: '4k' } });
  });

  it.each([
    ['resolution', { resolution: '1080p' }],
    ['aspect_ratio', { aspectRatio: '1:1' }],
  ])('names a size where the format has no %s', (param, shape) => {
    expect(strict.misfit?.(call(shape))).toMatchObject({ param });
    expect(strict.misfit?.(call({ ...shape, size: '1280x720' }))).toBeUndefined();
    expect(strict.misfit?.(call({ resolution: '720p', aspectRatio: '9:16' }))).toBeUndefined();
    expect(wordy.misfit?.(call(shape))).toBeUndefined();
  });

  it.each([
    ['16:9', '1280x720'],
    ['9:16', '720x1280'],
  ])('of %s has its size where the format has no ratio', (aspectRatio, size) => {
    expect(strict.misfit?.(call({ aspectRatio, resolution: '720p' }))).toBeUndefined();
    expect(bodyOf(strict.submit(call({ aspectRatio })))).toMatchObject({ size });
    expect(bodyOf(strict.submit(call({ aspectRatio, size: '1792x1024' })))).toMatchObject({
      size: '1792x1024',
    });
  });

  it('takes one picture, to begin with, where the format has no more', () => {
    expect(
      strict.misfit?.(call({ images: [first, { role: 'last', url: first.url }] }))?.param,
    ).toBe('image');
    expect(
      wordy.misfit?.(call({ images: [first, { role: 'last', url: first.url }] })),
    ).toBeUndefined();
  });

  it.each([
    [{ id: 'video_1', object: 'video', status: 'queued' }, 'video_1'],
    [{ id: 'task_1', task_id: 'task_1' }, 'task_1'],
    [{ task_id: 'task_2', status: 'queued' }, 'task_2'],
    [{ code: 'success', message: '', data: { task_id: 'task_3' } }, 'task_3'],
  ])('is known by its id: %j', (reply, upstreamId) =>
    expect(strict.readSubmission(bytes(reply), call())).toEqual({ upstreamId }),
  );

  it.each(['<html>', '[]', '{}', '{"id":7.5}', '{"id":""}', ''])(
    'that is answered by %j may have been accepted',
    (reply) => {
      const read = strict.readSubmission(bytes(reply), call());
      if ('upstreamId' in read) expect(read.upstreamId).not.toBe('');
      else expect(read).toMatchObject({ kind: 'protocol' });
    },
  );

  it('that is refused in an answer of a good status is refused', () => {
    const refused = strict.readSubmission(
      bytes({ error: { code: 'insufficient_quota', message: 'empty' } }),
      call(),
    );
    expect(refused).toMatchObject({ kind: 'quota' });
  });
});

describe('a poll', () => {
  it('asks for the id, whatever is in it', () => {
    expect(strict.poll(task)).toMatchObject({ method: 'GET', path: '/videos/video_1%2Fx' });
    expect(strict.cancel?.(task)).toMatchObject({ method: 'DELETE', path: '/videos/video_1%2Fx' });
  });

  it.each([
    [
      { status: 'queued', progress: 0 },
      { state: 'queued', percent: 0 },
    ],
    [
      { status: 'in_progress', progress: 33 },
      { state: 'running', percent: 33 },
    ],
    [
      { code: 'success', data: { status: 'IN_PROGRESS', progress: '50%' } },
      { state: 'running', percent: 50 },
    ],
    [{ code: 'success', data: { status: 'NOT_START' } }, { state: 'queued' }],
    [{ status: 'unknown' }, { state: 'unknown' }],
    [
      { status: 'dreaming', progress: 900 },
      { state: 'unknown', percent: 100 },
    ],
    [
      { status: 'completed' },
      { state: 'completed', file: { kind: 'path', path: '/videos/video_1%2Fx/content' } },
    ],
    [
      { status: 'completed', metadata: { url: 'https://x.example/v1/videos/1/content' } },
      { state: 'completed', file: { kind: 'path' } },
    ],
    [
      { status: 'completed', metadata: { url: 'https://x.example/a.mp4' } },
      { state: 'completed', file: { kind: 'address', url: 'https://x.example/a.mp4' } },
    ],
    [
      { code: 'success', data: { status: 'SUCCESS', result_url: 'https://x.example/b.mp4' } },
      { state: 'completed', file: { url: 'https://x.example/b.mp4' } },
    ],
    [
      { status: 'failed', error: { code: 'moderation_blocked', message: 'no' } },
      { state: 'failed', fault: { kind: 'content_policy' } },
    ],
    [
      { status: 'failed', error: null },
      { state: 'failed', fault: { kind: 'server_error' } },
    ],
    [
      { code: 'success', data: { status: 'FAILURE', fail_reason: 'out of memory' } },
      { state: 'failed', fault: { message: 'out of memory' } },
    ],
  ])('reads %j', (reply, progress) =>
    expect(strict.readPoll(bytes(reply), task)).toMatchObject(progress),
  );

  it.each(['<html>', 'null', '[1]', '{"error":{"code":"server_error","message":"oops"}}'])(
    'that is answered by %j has said nothing',
    (reply) => {
      expect(strict.readPoll(bytes(reply), task)).toHaveProperty('message');
    },
  );

  it.each([
    [404, '{"error":{"message":"Video not found","code":"not_found"}}', true],
    [400, '{"code":"task_not_exist","message":"task_not_exist","data":null}', true],
    [404, '<html>nginx</html>', undefined],
    [401, '{"error":{"message":"Invalid key","code":"invalid_api_key"}}', undefined],
    [500, '{"error":{"message":"oops"}}', undefined],
  ])('answered %i %s: gone is %s', (status, reply, gone) =>
    expect(strict.fault(status, {}, reply).gone).toBe(gone),
  );
});

it('prices are found by size, length, sound and resolution', () => {
  expect(strict.variants(call({ size: '1024x1792', audio: true }))).toEqual([
    '1024x1792',
    '1024p/8',
    '1024p+audio',
    '1024p',
  ]);
  expect(wordy.variants(call({ resolution: '1080p' }))).toEqual(['1080p/8', '1080p']);
  expect(wordy.variants(call())).toEqual(['720p/8', '720p']);
});
