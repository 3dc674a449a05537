import { bearerOf, isWrongKey } from '../api-key.ts';
import { gemini } from '../google/gemini.ts';
import { keyInvalid, keyMissing, status } from '../google/refusal.ts';
import { isToken } from '../google/token.ts';
import { vertex } from '../google/vertex.ts';
import type { Reply } from '../dialect.ts';
import { object as members, list, text } from '../json.ts';
import { withoutScenarios } from '../scenario.ts';
import { mp4Of } from '../media/mp4.ts';
import {
  base64,
  flag,
  listOf,
  object,
  oneOf,
  type Shape,
  whole,
  textValue,
  wrongWith,
} from './check.ts';
import {
  type VideoCall,
  pixels,
  type Poll,
  type Submission,
  type VideoHandler,
} from './handler.ts';
import type { SimTask } from './task.ts';

const inlineImage = object({
  bytesBase64Encoded: base64,
  mimeType: oneOf('image/png', 'image/jpeg', 'image/webp'),
});
const instance: Shape = {
  prompt: textValue(4_000),
  'image?': inlineImage,
  'lastFrame?': inlineImage,
  'referenceImages?': listOf(
    object({ image: inlineImage, referenceType: oneOf('asset', 'style') }),
    3,
  ),
};
const parameters: Shape = {
  'sampleCount?': oneOf(1),
  'aspectRatio?': oneOf('16:9', '9:16'),
  'resolution?': oneOf('720p', '1080p', '4k'),
  'durationSeconds?': whole(4, 8),
  'negativePrompt?': textValue(4_000, 0),
  'personGeneration?': oneOf('allow_all', 'allow_adult', 'dont_allow'),
  'seed?': whole(0, 4_294_967_295),
};

/** The rules of the page besides the shapes: ai.google.dev/gemini-api/docs/video, 2026-08. */
function wrongFor(model: string, raw: VideoCall['raw']): string | undefined {
  const parameters = members(raw['parameters']);
  const seconds = Number(parameters['durationSeconds'] ?? 8);
  const { resolution = '720p' } = parameters;
  const first = members(list(raw['instances'])[0]);
  if (first['lastFrame'] !== undefined && first['image'] === undefined)
    return '`lastFrame` needs `image`';
  if (
    first['referenceImages'] !== undefined &&
    (seconds !== 8 || first['image'] !== undefined || model.includes('lite'))
  )
    return '`referenceImages` is only supported alone, for `durationSeconds` 8.';
  if (!model.startsWith('veo-2') && ![4, 6, 8].includes(seconds))
    return `The number value for \`durationSeconds\` is out of bound. Please provide a value between 4 and 8, inclusive.`;
  if (resolution !== '720p' && seconds !== 8)
    return `\`resolution\` ${String(resolution)} is only supported for \`durationSeconds\` 8.`;
  return resolution === '4k' && /lite|3\.0/.test(model)
    ? '`resolution` 4k is not supported by this model.'
    : undefined;
}

function submission(
  call: VideoCall,
  named: string,
  more: Shape,
  operation: (id: string) => string,
): Reply | Submission {
  const { raw } = call;
  const shape = {
    instances: listOf(object(instance), 1),
    'parameters?': object({ ...parameters, ...more }),
  };
  const wrong = wrongWith(raw, shape) ?? wrongFor(named, raw);
  if (wrong !== undefined) return status(400, wrong);
  const sent = members(raw['parameters']);
  const size = pixels(text(sent['resolution']) ?? '720p', text(sent['aspectRatio']));
  return {
    request: {
      named,
      prompt: text(members(list(raw['instances'])[0])['prompt']) ?? '',
      seconds: Number(sent['durationSeconds'] ?? 8),
      ...size,
    },
    accepted: (id) => ({ status: 200, body: { name: operation(id) } }),
  };
}

/** An operation as recorded: it has no `done` until it ends. `odd`: with an undocumented member. */
function operation(name: string, { state }: SimTask, response: object): Reply {
  if (state === 'queued' || state === 'running') return { status: 200, body: { name } };
  if (state === 'odd') return { status: 200, body: { name, metadata: { phase: 'POLISHING' } } };
  if (state === 'failed' || state === 'cancelled')
    return {
      status: 200,
      body: {
        name,
        done: true,
        error: { code: 13, message: 'Video generation failed due to an internal server issue.' },
      },
    };
  return { status: 200, body: { name, done: true, response } };
}

const filtered = {
  raiMediaFilteredCount: 1,
  raiMediaFilteredReasons: [
    "The prompt could not be submitted. This prompt contains words that violate Google's Responsible AI practices.",
  ],
};

const unknown = status(404, 'Requested entity was not found.');

function checkGeminiKey({ headers }: VideoCall): 'missing_key' | 'wrong_key' | undefined {
  const key = headers['x-goog-api-key'];
  if (typeof key !== 'string' || key === '') return 'missing_key';
  return isWrongKey(key) ? 'wrong_key' : undefined;
}

const type = 'type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse';

function geminiPoll(call: VideoCall, model: string, id: string): Poll {
  const { headers } = call;
  return {
    id,
    unknown,
    report(task) {
      const uri = `http://${headers.host}/gemini/v1beta/files/${id}:download?alt=media`;
      const videos =
        task.state === 'moderated' ? filtered : { generatedSamples: [{ video: { uri } }] };
      return operation(`models/${model}/operations/${id}`, task, {
        '@type': type,
        generateVideoResponse: videos,
      });
    },
  };
}

/** Veo: the file is at another address, which needs the key, too (recorded). */
export const geminiVideos: VideoHandler = {
  vendor: 'gemini',
  at: /^\/gemini\/(?:v1beta\/(?:models\/[^/]+(?::predictLongRunning|\/operations\/)|files\/[^/]+:download)|download\/)/,
  checkKey: checkGeminiKey,
  refuse: (problem) =>
    problem.kind === 'missing_key'
      ? keyMissing
      : problem.kind === 'wrong_key'
        ? keyInvalid
        : refusedBy(gemini, problem),
  take(call) {
    const { method, path } = call;
    const [, named] = /^\/gemini\/v1beta\/models\/([^/]+):predictLongRunning$/.exec(path) ?? [];
    if (method === 'POST' && named !== undefined) {
      const id = decodeURIComponent(named);
      return submission(call, id, {}, (task) => `models/${id.split('+')[0]}/operations/${task}`);
    }
    const [, model = '', operationId] =
      /^\/gemini\/v1beta\/models\/([^/]+)\/operations\/([^/]+)$/.exec(path) ?? [];
    if (method === 'GET' && operationId !== undefined) return geminiPoll(call, model, operationId);
    const [, there, made] =
      /^\/gemini\/(download\/)?v1beta\/files\/([^/:]+):download$/.exec(path) ?? [];
    if (method !== 'GET' || made === undefined) return undefined;
    if (there !== undefined) return { taskId: made };
    const location = `http://${call.headers.host}/gemini/download${path.slice('/gemini'.length)}?alt=media`;
    return {
      status: 302,
      headers: { location },
      body: { error: { code: 302, message: 'Unknown Error.', status: 'UNKNOWN' } },
    };
  },
};

/**
 * A refused prompt is a 400 of its own at submission; the other refusals are the vendor's usual
 * ones.
 */
function refusedBy(
  { refuse }: Pick<VideoHandler, 'refuse'>,
  problem: Parameters<VideoHandler['refuse']>[0],
): Reply {
  if (problem.kind !== 'policy') return refuse(problem);
  return status(
    400,
    'The prompt could not be submitted. It contains sensitive words that violate our usage guidelines.',
  );
}

const vertexPath =
  /^\/vertex\/v1(?:beta1)?\/(projects\/[^/]+\/locations\/[^/]+)\/publishers\/google\/models\/([^/:]+):(predictLongRunning|fetchPredictOperation)$/;

/** `place`: the model's full name. */
function vertexPoll(call: VideoCall, place: string): Poll | Reply {
  const name = text(call.raw['operationName']) ?? '';
  const [, of, id] = /^(.+)\/operations\/([\w-]+)$/.exec(name) ?? [];
  if (id === undefined || of !== place) return status(400, 'Invalid operation name.');
  return {
    id,
    unknown,
    report(task) {
      const videos =
        task.state === 'done'
          ? [{ bytesBase64Encoded: mp4Of(task.request).toString('base64'), mimeType: 'video/mp4' }]
          : [];
      const response = task.state === 'moderated' ? filtered : { raiMediaFilteredCount: 0, videos };
      return operation(name, task, {
        '@type': 'type.googleapis.com/cloud.ai.large_models.vision.GenerateVideoResponse',
        ...response,
      });
    },
  };
}

/**
 * Veo of Vertex:
 * docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/veo-video-generation, 2026-08.
 */
export const vertexVideos: VideoHandler = {
  vendor: 'vertex',
  at: /^\/vertex\/v1(?:beta1)?\/.*\/models\/[^/]+:(?:predictLongRunning|fetchPredictOperation)$/,
  // An access token, or a key of express mode.
  checkKey(call) {
    const token = bearerOf(call.headers);
    if (token === undefined) return checkGeminiKey(call);
    return isToken(token) ? undefined : 'wrong_key';
  },
  refuse: (problem) => refusedBy(vertex, problem),
  take(call) {
    const [, location = '', named = '', method] = vertexPath.exec(call.path) ?? [];
    if (call.method !== 'POST' || method === undefined) return undefined;
    const id = decodeURIComponent(named);
    const place = `${location}/publishers/google/models/${withoutScenarios(id)}`;
    if (method === 'fetchPredictOperation') return vertexPoll(call, place);
    return submission(
      call,
      id,
      { 'generateAudio?': flag, 'enhancePrompt?': flag },
      (task) => `${place}/operations/${task}`,
    );
  },
};
