import { videoTaskRequestSchema } from '../video.ts';
import { videosPageMax, videosSchemas } from '../videos-alias.ts';
import {
  type Operations,
  objectSchema,
  answerSchema,
  pageSchema,
  pageQuery,
  schemaRef,
  type Schema,
  stringSchema,
  integerSchema,
  enumSchema,
} from './schema.ts';

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
      VideoTaskRequest: videoTaskRequestSchema,
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
      ...videosSchemas,
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
