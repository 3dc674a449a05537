import { videoTaskRequestSchema } from '../video.ts';
import { videosPageMax, videosSchemas } from '../videos-alias.ts';
import * as schema from '../schema.ts';

const tag = 'Videos';
const seconds = (description: string): schema.Schema => schema.integer(description, 0);

const task = schema.answer(
  {
    id: schema.string('`video_…`; kept for 24 hours.'),
    status: schema.choice('State of the task.', ['pending', 'processing', 'completed', 'failed']),
    created_at: seconds('Unix time in seconds.'),
  },
  {
    object: schema.string('`video`'),
    model: schema.string('The requested model.'),
    progress: schema.integer('Percent, if the vendor reports it.', 0, 100),
    completed_at: seconds('When it was completed.'),
    expires_at: seconds('When it expires.'),
    duration: { type: 'number', description: 'Length of the video in seconds.' },
    video_url: schema.string('URL of the video after it is `completed`.'),
    error: schema.string('The reason if it `failed`.'),
  },
);

const resource = schema.answer(
  {
    id: schema.string('The same id, `video_…`.'),
    object: { type: 'string', const: 'video' },
    model: schema.string('The requested model.'),
    status: schema.choice('State of the task.', ['queued', 'in_progress', 'completed', 'failed']),
    progress: schema.integer('Percent.', 0, 100),
    created_at: seconds('Unix time in seconds.'),
    expires_at: seconds('When it expires.'),
    seconds: schema.string('Length of the video in seconds.'),
  },
  {
    completed_at: seconds('When it was completed.'),
    prompt: schema.string('Only in the first answer, because the gateway does not store prompts.'),
    size: schema.string('The size, if the request chose one.'),
    error: schema.object('`code` and `message`.'),
  },
);

const id = { video_id: 'A video of this account, less than a day old.' };

export const videoOperations: schema.Operations = {
  'POST /video/generations': {
    id: 'submitVideo',
    tag,
    calls: 'model',
    also: ['too_many_files'],
    summary: 'Generate a video',
    description:
      'Returns a task with an id immediately. Get the task every 5 to 30 seconds until its status is `completed` or `failed`. The gateway forwards other members to vendors with the same format.',
    schemas: {
      VideoTaskRequest: videoTaskRequestSchema,
      VideoTask: task,
    },
    body: { 'application/json': schema.ref('VideoTaskRequest') },
    answer: { 'application/json': schema.ref('VideoTask') },
  },
  'GET /video/generations/:id': {
    id: 'getVideoTask',
    tag,
    also: ['task_not_found'],
    summary: 'Get a video task',
    path: { task_id: 'The id of the task.' },
    answer: { 'application/json': schema.ref('VideoTask') },
  },
  'POST /videos': {
    id: 'createVideo',
    tag,
    calls: 'model',
    also: ['missing_model', 'too_many_files'],
    summary: 'Generate a video, in OpenAI’s format',
    schemas: {
      ...videosSchemas,
      Video: resource,
    },
    body: {
      'application/json': schema.ref('VideoRequest'),
      'multipart/form-data': schema.ref('VideoForm'),
    },
    answer: { 'application/json': schema.ref('Video') },
  },
  'GET /videos': {
    id: 'listVideos',
    tag,
    also: ['task_not_found'],
    summary: 'List videos of this account',
    query: schema.pageQuery(videosPageMax),
    schemas: { VideoList: schema.page(schema.ref('Video')) },
    answer: { 'application/json': schema.ref('VideoList') },
  },
  'GET /videos/:id': {
    id: 'getVideo',
    tag,
    also: ['task_not_found'],
    summary: 'Get a video',
    path: id,
    answer: { 'application/json': schema.ref('Video') },
  },
  'DELETE /videos/:id': {
    id: 'deleteVideo',
    tag,
    also: ['task_not_found', 'invalid_value'],
    summary: 'Delete a completed or failed video',
    path: id,
    answer: { 'application/json': schema.ref('Deleted') },
  },
  'GET /videos/:id/content': {
    id: 'downloadVideo',
    tag,
    summary: 'Download a video',
    description: 'Range requests are supported.',
    path: id,
    query: { variant: schema.choice('Only `video`.', ['video']) },
    answer: { 'video/*': { type: 'string', format: 'binary', description: 'The video file.' } },
    also: ['task_not_found', 'file_not_found', 'range_not_satisfiable', 'rate_limit_concurrency'],
  },
};
