import type { DefaultModels } from '../catalog/configuration.ts';
import { offerTo } from '../gateway/allowed.ts';
import type { ClientFormat } from '../gateway/client-format.ts';
import type { Parts } from '../gateway/parts.ts';
import { countInput } from '../gateway/inquire.ts';
import { run } from '../gateway/run.ts';
import type { Tasks } from '../gateway/tasks/tasks.ts';
import type { Submissions } from '../gateway/submissions.ts';
import type { ResponseMemory } from '../recall/responses.ts';
import { audioEndpoints } from './audio-endpoints.ts';
import { chatFormat, parseChat } from './chat.ts';
import { parseJson } from './check.ts';
import { completionsFormat, parseCompletion } from './completions.ts';
import { messagesConvention } from './convention.ts';
import type { Endpoint, Visit } from './door.ts';
import type { FileDesk } from './files.ts';
import { embeddingsFormat, parseEmbeddings } from './embeddings.ts';
import { messagesFormat, parseMessages, parseQuestion, renderCount } from './messages-endpoint.ts';
import { once } from './idempotency.ts';
import { imageSpools } from './images-body.ts';
import { imagesEndpoints } from './images.ts';
import { getModel, listModels, modelsConvention } from './models.ts';
import { moderationsFormat, parseModeration } from './moderations.ts';
import { parseRerank, rerankFormat } from './rerank.ts';
import { responsesEndpoints } from './responses-endpoints.ts';
import { videoEndpoints } from './video.ts';
import { videosEndpoints } from './videos-alias.ts';

/** What endpoints work with beside the pipeline. */
export interface EndpointParts {
  readonly memory: ResponseMemory;
  readonly submissions: Submissions;
  readonly tasks: Tasks;
  readonly desk: FileDesk;
  readonly defaultModels?: DefaultModels | undefined;
}

const noDefaults: DefaultModels = { image: [], video: [] };

/** The interface, row by row. */
export function endpointsOf(
  parts: Parts,
  { memory, submissions, tasks, desk, defaultModels = noDefaults }: EndpointParts,
): readonly Endpoint[] {
  const usualVideo = ({ principal }: Pick<Visit, 'principal'>): string | undefined =>
    defaultModels.video.find((id) => offerTo(parts.catalog(), principal, id) !== undefined);
  return [
    once(submissions, ask(parts, '/chat/completions', parseChat, chatFormat)),
    once(submissions, ask(parts, '/completions', parseCompletion, completionsFormat)),
    once(submissions, {
      method: 'POST',
      path: '/messages',
      convention: messagesConvention,
      handle: ({ id, principal, request, reply }) => {
        const { body, bytes } = parseJson(request.body, request.headers['content-type']);
        return run(
          parts,
          parseMessages(id, principal, request.headers, body, bytes),
          reply,
          messagesFormat,
        );
      },
    }),
    {
      method: 'POST',
      path: '/messages/count_tokens',
      convention: messagesConvention,
      handle: ({ id, principal, request, reply }) => {
        const { body, bytes } = parseJson(request.body, request.headers['content-type']);
        return countInput(
          parts,
          parseQuestion(id, principal, request.headers, body, bytes),
          reply,
          messagesFormat,
          renderCount,
        );
      },
    },
    once(submissions, ask(parts, '/embeddings', parseEmbeddings, embeddingsFormat)),
    ask(parts, '/moderations', parseModeration, moderationsFormat),
    ask(parts, '/rerank', parseRerank, rerankFormat),
    ...imagesEndpoints(parts, submissions, imageSpools(), defaultModels.image),
    ...audioEndpoints(parts),
    ...responsesEndpoints(parts, memory, submissions),
    ...videoEndpoints(tasks, parts.files, submissions),
    ...videosEndpoints(tasks, parts.files, desk, submissions, usualVideo),
    {
      method: 'GET',
      path: '/models',
      convention: modelsConvention,
      handle: ({ principal, request, reply }) =>
        reply.whole(200, 'application/json', listModels(parts.catalog(), principal, request)),
    },
    {
      method: 'GET',
      path: '/models/*',
      convention: modelsConvention,
      handle: ({ principal, request, reply }) =>
        reply.whole(
          200,
          'application/json',
          getModel(parts.catalog(), principal, request, modelId(request.params)),
        ),
    },
  ];
}

/** A question in JSON whose parser needs nothing but its body. */
function ask(parts: Parts, path: string, parse: typeof parseChat, format: ClientFormat): Endpoint {
  return {
    method: 'POST',
    path,
    handle({ id, principal, request, reply }) {
      const { body, bytes } = parseJson(request.body, request.headers['content-type']);
      return run(parts, parse(id, principal, body, bytes), reply, format);
    },
  };
}

function modelId(params: unknown): string {
  if (
    typeof params === 'object' &&
    params !== null &&
    '*' in params &&
    typeof params['*'] === 'string'
  )
    return params['*'];
  throw new Error('the route of a model has a wildcard');
}
