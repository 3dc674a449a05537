import { videoTaskRequestSchema } from '../video.ts';
import { videosPageMax, videosSchemas } from '../videos-alias.ts';
import * as schema from '../schema.ts';

const tag = 'Videos';
const seconds = (description: string): schema.Schema => schema.integer(description, 0);

const task = schema.answer(
  {
    id: schema.string('`video_…`; can be asked for within 24 hours.'),
    status: schema.choice('How far it is.', ['pending', 'processing', 'completed', 'failed']),
    created_at: seconds('Unix time, seconds.'),
  },
  {
    object: schema.string('`video`'),
    model: schema.string('The model that was asked for.'),
    progress: schema.integer('Per cent, as far as the vendor tells.', 0, 100),
    completed_at: seconds('When it was there.'),
    expires_at: seconds('When it goes.'),
    duration: { type: 'number', description: 'Seconds of film.' },
    video_url: schema.string('Where the film is, once it is `completed`.'),
    error: schema.string('Why it `failed`.'),
  },
);

const resource = schema.answer(
  {
    id: schema.string('The same `video_…`.'),
    object: { type: 'string', const: 'video' },
    model: schema.string('The model that was asked for.'),
    status: schema.choice('How far it is.', ['queued', 'in_progress', 'completed', 'failed']),
    progress: schema.integer('Per cent.', 0, 100),
    created_at: seconds('Unix time, seconds.'),
    expires_at: seconds('When it goes.'),
    seconds: schema.string('Of film.'),
  },
  {
    completed_at: seconds('When it was there.'),
    prompt: schema.string('In the answer to its submission alone: prompts are not kept.'),
    size: schema.string('Where it was chosen.'),
    error: schema.object('`code` and `message`.'),
  },
);

const id = { video_id: 'A video of this account, not a day old.' };

export const videoOperations: schema.Operations = {
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
    body: { 'application/json': schema.ref('VideoTaskRequest') },
    answer: { 'application/json': schema.ref('VideoTask') },
    once: true,
  },
  'GET /video/generations/:id': {
    id: 'getVideoTask',
    tag,
    summary: 'How far a film is, and where',
    path: { task_id: 'As it was given at its submission.' },
    answer: { 'application/json': schema.ref('VideoTask') },
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
      'application/json': schema.ref('VideoRequest'),
      'multipart/form-data': schema.ref('VideoForm'),
    },
    answer: { 'application/json': schema.ref('Video') },
    once: true,
  },
  'GET /videos': {
    id: 'listVideos',
    tag,
    summary: 'Films of this account',
    query: schema.pageQuery(videosPageMax),
    schemas: { VideoList: schema.page(schema.ref('Video')) },
    answer: { 'application/json': schema.ref('VideoList') },
  },
  'GET /videos/:id': {
    id: 'getVideo',
    tag,
    summary: 'How far a film is',
    path: id,
    answer: { 'application/json': schema.ref('Video') },
  },
  'DELETE /videos/:id': {
    id: 'deleteVideo',
    tag,
    summary: 'Delete a film that is completed or failed',
    path: id,
    answer: { 'application/json': schema.ref('Deleted') },
  },
  'GET /videos/:id/content': {
    id: 'downloadVideo',
    tag,
    summary: 'The film itself',
    description: 'Ranges work.',
    path: id,
    query: { variant: schema.choice('There is one.', ['video']) },
    answer: { 'video/*': { type: 'string', format: 'binary', description: 'The film.' } },
    also: [416],
  },
};
