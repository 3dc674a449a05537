import { videoDurations, promptCharsMax } from '../video.ts';
import { videosPageMax } from '../videos-alias.ts';
import {
  type Operations,
  objectSchema,
  answerSchema,
  requestSchema,
  booleanSchema,
  oneOfSchema,
  pageSchema,
  pageQuery,
  forwardedSchema,
  schemaRef,
  type Schema,
  stringSchema,
  integerSchema,
  enumSchema,
} from './schema.ts';

const model = stringSchema('A video model.', { minLength: 1 });
const usual = stringSchema('A video model. Absent: the gateway’s default, where there is one.', {
  minLength: 1,
});
const prompt = stringSchema('What is to be seen.', { minLength: 1, maxLength: promptCharsMax });
const size = stringSchema('`<width>x<height>`, where the model can choose.', {
  pattern: '^[1-9][0-9]{1,4}x[1-9][0-9]{1,4}$',
});
const imageSchema = forwardedSchema('A picture: an address, or a data URL.');
const tag = 'Videos';
const seconds = (description: string): Schema => integerSchema(description, 0);

const task = answerSchema(
  {
    id: stringSchema('`video_…`; can be asked for within 24 hours.'),
    status: enumSchema('How far it is.', ['pending', 'processing', 'completed', 'failed']),
    created_at: seconds('Unix time, seconds.'),
  },
  {
    object: stringSchema('`video`'),
    model: stringSchema('The model that was asked for.'),
    progress: integerSchema('Per cent, as far as the vendor tells.', 0, 100),
    completed_at: seconds('When it was there.'),
    expires_at: seconds('When it goes.'),
    duration: { type: 'number', description: 'Seconds of film.' },
    video_url: stringSchema('Where the film is, once it is `completed`.'),
    error: stringSchema('Why it `failed`.'),
  },
);

const resource = answerSchema(
  {
    id: stringSchema('The same `video_…`.'),
    object: { type: 'string', const: 'video' },
    model: stringSchema('The model that was asked for.'),
    status: enumSchema('How far it is.', ['queued', 'in_progress', 'completed', 'failed']),
    progress: integerSchema('Per cent.', 0, 100),
    created_at: seconds('Unix time, seconds.'),
    expires_at: seconds('When it goes.'),
    seconds: stringSchema('Of film.'),
  },
  {
    completed_at: seconds('When it was there.'),
    prompt: stringSchema('In the answer to its submission alone: prompts are not kept.'),
    size: stringSchema('Where it was chosen.'),
    error: objectSchema('`code` and `message`.'),
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
      VideoTaskRequest: requestSchema(
        {
          model,
          prompt,
          async: { type: 'boolean', description: 'Films are made asynchronously.', const: true },
        },
        {
          duration: {
            type: 'integer',
            description: `Seconds: ${videoDurations.join(', ')}, or what else the model makes.`,
            examples: videoDurations,
          },
          size,
          aspect_ratio: stringSchema('Such as `16:9`.', { pattern: '^[0-9]{1,2}:[0-9]{1,2}$' }),
          resolution: stringSchema('Such as `720p` or `4k`.', {
            pattern: '^(?:[0-9]{3,4}[pP]|[248][kK])$',
          }),
          negative_prompt: stringSchema('What is not to be seen.'),
          seed: integerSchema('For films that repeat, as far as the model can.', 0),
          audio: booleanSchema('Whether there is sound, where the model can choose.'),
          image: imageSchema,
          last_image: imageSchema,
          images: {
            type: 'array',
            description: 'Pictures to go by; a single one is where the film begins.',
            items: imageSchema,
          },
          reference_images: {
            type: 'array',
            description: 'Pictures to go by.',
            items: imageSchema,
          },
        },
      ),
      VideoTask: task,
    },
    body: { 'application/json': schemaRef('VideoTaskRequest') },
    answer: { 'application/json': schemaRef('VideoTask') },
    once: true,
  },
  'GET /video/generations/:id': {
    id: 'getVideoTask',
    tag,
    summary: 'How far a film is, and where',
    path: { task_id: 'As it was given at its submission.' },
    answer: { 'application/json': schemaRef('VideoTask') },
  },
  'POST /videos': {
    id: 'createVideo',
    tag,
    summary: 'Have a film made, in the other words for it',
    schemas: {
      VideoRequest: requestSchema(
        { prompt },
        {
          model: usual,
          seconds: oneOfSchema(
            'Of film, as text.',
            { type: 'string', pattern: '^[0-9]{1,2}$' },
            integerSchema('A number is understood as well.', 1, 60),
          ),
          size,
          input_reference: forwardedSchema(
            'A picture to begin with: an address, or `{"image_url": …}`.',
          ),
        },
      ),
      VideoForm: requestSchema(
        { prompt },
        {
          model: usual,
          seconds: stringSchema('Of film.'),
          size,
          input_reference: { type: 'string', format: 'binary', description: 'PNG, JPEG or WebP.' },
        },
      ),
      Video: resource,
    },
    body: {
      'application/json': schemaRef('VideoRequest'),
      'multipart/form-data': schemaRef('VideoForm'),
    },
    answer: { 'application/json': schemaRef('Video') },
    once: true,
  },
  'GET /videos': {
    id: 'listVideos',
    tag,
    summary: 'Films of this account',
    query: pageQuery(videosPageMax),
    schemas: { VideoList: pageSchema(schemaRef('Video')) },
    answer: { 'application/json': schemaRef('VideoList') },
  },
  'GET /videos/:id': {
    id: 'getVideo',
    tag,
    summary: 'How far a film is',
    path: id,
    answer: { 'application/json': schemaRef('Video') },
  },
  'DELETE /videos/:id': {
    id: 'deleteVideo',
    tag,
    summary: 'Delete a film that is completed or failed',
    path: id,
    answer: { 'application/json': schemaRef('Deleted') },
  },
  'GET /videos/:id/content': {
    id: 'downloadVideo',
    tag,
    summary: 'The film itself',
    description: 'Ranges work.',
    path: id,
    query: { variant: enumSchema('There is one.', ['video']) },
    answer: { 'video/*': { type: 'string', format: 'binary', description: 'The film.' } },
    also: [416],
  },
};
