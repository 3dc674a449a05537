import { usualDurations } from '../video.ts';
import { promptCharsMax } from '../video-wish.ts';
import { pageMax } from '../videos-alias.ts';
import type { Operations } from './operation.ts';
import {
  anyObject,
  answered,
  asked,
  flag,
  oneOf,
  pageOf,
  pageQuery,
  passed,
  ref,
  type Schema,
  text,
  whole,
  word,
} from './schema.ts';

const model = text('A video model.', { minLength: 1 });
const usual = text('A video model. Absent: the gateway’s default, where there is one.', {
  minLength: 1,
});
const prompt = text('What is to be seen.', { minLength: 1, maxLength: promptCharsMax });
const size = text('`<width>x<height>`, where the model can choose.', {
  pattern: '^[1-9][0-9]{1,4}x[1-9][0-9]{1,4}$',
});
const picture = passed('A picture: an address, or a data URL.');
const tag = 'Videos';
const seconds = (description: string): Schema => whole(description, 0);

const task = answered(
  {
    id: text('`video_…`; can be asked for within 24 hours.'),
    status: word('How far it is.', ['pending', 'processing', 'completed', 'failed']),
    created_at: seconds('Unix time, seconds.'),
  },
  {
    object: text('`video`'),
    model: text('The model that was asked for.'),
    progress: whole('Per cent, as far as the vendor tells.', 0, 100),
    completed_at: seconds('When it was there.'),
    expires_at: seconds('When it goes.'),
    duration: { type: 'number', description: 'Seconds of film.' },
    video_url: text('Where the film is, once it is `completed`.'),
    error: text('Why it `failed`.'),
  },
);

const resource = answered(
  {
    id: text('The same `video_…`.'),
    object: { type: 'string', const: 'video' },
    model: text('The model that was asked for.'),
    status: word('How far it is.', ['queued', 'in_progress', 'completed', 'failed']),
    progress: whole('Per cent.', 0, 100),
    created_at: seconds('Unix time, seconds.'),
    expires_at: seconds('When it goes.'),
    seconds: text('Of film.'),
  },
  {
    completed_at: seconds('When it was there.'),
    prompt: text('In the answer to its submission alone: prompts are not kept.'),
    size: text('Where it was chosen.'),
    error: anyObject('`code` and `message`.'),
  },
);

const id = { video_id: 'A video of this account, not a day old.' };

export const videoOperations: Operations = {
  'POST /video/generations': {
    id: 'submitVideo',
    tag,
    summary: 'Have a film made',
    description:
      'Answered at once with an id: ask for that every 5 to 30 seconds until it is `completed` or `failed`. Other members are passed on to vendors of the same words.',
    schemas: {
      VideoTaskRequest: asked(
        {
          model,
          prompt,
          async: { type: 'boolean', description: 'Films are made asynchronously.', const: true },
        },
        {
          duration: {
            type: 'integer',
            description: `Seconds: ${usualDurations.join(', ')}, or what else the model makes.`,
            examples: usualDurations,
          },
          size,
          aspect_ratio: text('Such as `16:9`.', { pattern: '^[0-9]{1,2}:[0-9]{1,2}$' }),
          resolution: text('Such as `720p` or `4k`.', {
            pattern: '^(?:[0-9]{3,4}[pP]|[248][kK])$',
          }),
          negative_prompt: text('What is not to be seen.'),
          seed: whole('For films that repeat, as far as the model can.', 0),
          audio: flag('Whether there is sound, where the model can choose.'),
          image: picture,
          last_image: picture,
          images: {
            type: 'array',
            description: 'Pictures to go by; a single one is where the film begins.',
            items: picture,
          },
          reference_images: { type: 'array', description: 'Pictures to go by.', items: picture },
        },
      ),
      VideoTask: task,
    },
    body: { 'application/json': ref('VideoTaskRequest') },
    answer: { 'application/json': ref('VideoTask') },
    once: true,
  },
  'GET /video/generations/:id': {
    id: 'getVideoTask',
    tag,
    summary: 'How far a film is, and where',
    path: { task_id: 'As it was given at its submission.' },
    answer: { 'application/json': ref('VideoTask') },
  },
  'POST /videos': {
    id: 'createVideo',
    tag,
    summary: 'Have a film made, in the other words for it',
    schemas: {
      VideoRequest: asked(
        { prompt },
        {
          model: usual,
          seconds: oneOf(
            'Of film, as text.',
            { type: 'string', pattern: '^[0-9]{1,2}$' },
            whole('A number is understood as well.', 1, 60),
          ),
          size,
          input_reference: passed('A picture to begin with: an address, or `{"image_url": …}`.'),
        },
      ),
      VideoForm: asked(
        { prompt },
        {
          model: usual,
          seconds: text('Of film.'),
          size,
          input_reference: { type: 'string', format: 'binary', description: 'PNG, JPEG or WebP.' },
        },
      ),
      Video: resource,
    },
    body: { 'application/json': ref('VideoRequest'), 'multipart/form-data': ref('VideoForm') },
    answer: { 'application/json': ref('Video') },
    once: true,
  },
  'GET /videos': {
    id: 'listVideos',
    tag,
    summary: 'Films of this account',
    query: pageQuery(pageMax),
    schemas: { VideoList: pageOf(ref('Video')) },
    answer: { 'application/json': ref('VideoList') },
  },
  'GET /videos/:id': {
    id: 'getVideo',
    tag,
    summary: 'How far a film is',
    path: id,
    answer: { 'application/json': ref('Video') },
  },
  'DELETE /videos/:id': {
    id: 'deleteVideo',
    tag,
    summary: 'Delete a film that is completed or failed',
    path: id,
    answer: { 'application/json': ref('Deleted') },
  },
  'GET /videos/:id/content': {
    id: 'downloadVideo',
    tag,
    summary: 'The film itself',
    description: 'Ranges work.',
    path: id,
    query: { variant: word('There is one.', ['video']) },
    answer: { 'video/*': { type: 'string', format: 'binary', description: 'The film.' } },
    also: [416],
  },
};
