import type { Principal } from '../accounts/principal.ts';
import { defaultUsdRatePpm } from '../catalog/bundled.ts';
import type { DefaultModels } from '../catalog/configuration.ts';
import { countInput } from '../gateway/count-tokens.ts';
import type { IdempotentRequests } from '../gateway/idempotency.ts';
import { offerTo } from '../gateway/models/offers.ts';
import type { GatewayParts } from '../gateway/parts.ts';
import type { Tasks } from '../gateway/tasks/tasks.ts';
import type { Uploads } from '../media/uploads.ts';
import type { ResponseStore } from '../memory/responses.ts';
import type { Database } from '../storage/database.ts';
import { audioEndpoints } from './audio.ts';
import { balanceEndpoints } from './balance.ts';
import { chatFormat, parseChat } from './chat.ts';
import { completionsFormat, parseCompletion } from './completions.ts';
import type { Endpoint } from './endpoint.ts';
import { messagesConvention } from './entry.ts';
import type { FileHandler } from './file-handler.ts';
import { generateEndpoints } from './generate-endpoints.ts';
import { generateFileEndpoints } from './generate-files.ts';
import { idempotent } from './idempotency.ts';
import { imageSpools } from './image-request.ts';
import { imagesEndpoints } from './images.ts';
import { InlinedFiles } from './inlined-files.ts';
import { messagesFormat, parseMessages, parseTokenCount, renderTokenCount } from './messages.ts';
import { modelEndpoints } from './models.ts';
import { takeJson, jsonEndpoint } from './request-body.ts';
import { responsesEndpoints } from './responses-endpoints.ts';
import {
  parseEmbeddings,
  parseRerank,
  moderationsFormat,
  parseModeration,
  vectorsFormat,
} from './vectors.ts';
import { videoEndpoints } from './video.ts';
import { videosEndpoints } from './videos-alias.ts';

/** The parts that the endpoints use beside the pipeline. */
export interface EndpointParts {
  readonly responseStore: ResponseStore;
  readonly idempotentRequests: IdempotentRequests;
  readonly tasks: Tasks;
  readonly fileHandler: FileHandler;
  readonly uploads: Uploads;
  readonly database: Database;
  readonly defaultModels?: DefaultModels | undefined;
  /** Millionths of a yuan for a dollar; undefined: the default. */
  readonly usdRatePpm?: bigint | undefined;
}

const noDefaults: DefaultModels = { image: [], video: [] };

/** All endpoints of the API. */
export function endpointsOf(
  parts: GatewayParts,
  {
    responseStore,
    idempotentRequests,
    tasks,
    fileHandler,
    uploads,
    database,
    defaultModels = noDefaults,
    usdRatePpm = defaultUsdRatePpm,
  }: EndpointParts,
): readonly Endpoint[] {
  /** A request that may be charged happens once for its Idempotency-Key. */
  const once = (endpoint: Endpoint): Endpoint => idempotent(idempotentRequests, endpoint);
  const usualVideo = (principal: Principal): string | undefined =>
    defaultModels.video.find((id) => offerTo(parts.catalog(), principal, id) !== undefined);
  return [
    once(jsonEndpoint(parts, '/chat/completions', parseChat, chatFormat)),
    once(jsonEndpoint(parts, '/completions', parseCompletion, completionsFormat)),
    once({
      ...jsonEndpoint(parts, '/messages', parseMessages, messagesFormat),
      convention: messagesConvention,
    }),
    {
      method: 'POST',
      path: '/messages/count_tokens',
      convention: messagesConvention,
      handle: (context) =>
        countInput(
          parts,
          parseTokenCount(context, takeJson(context.request)),
          context.response,
          renderTokenCount,
        ),
    },
    once(jsonEndpoint(parts, '/embeddings', parseEmbeddings, vectorsFormat)),
    once(jsonEndpoint(parts, '/moderations', parseModeration, moderationsFormat)),
    once(jsonEndpoint(parts, '/rerank', parseRerank, vectorsFormat)),
    ...imagesEndpoints(parts, idempotentRequests, imageSpools(), defaultModels.image),
    ...audioEndpoints(parts, idempotentRequests),
    ...responsesEndpoints(parts, responseStore, idempotentRequests),
    ...videoEndpoints(tasks, parts.files, idempotentRequests),
    ...videosEndpoints(tasks, parts.files, fileHandler, idempotentRequests, usualVideo),
    ...generateEndpoints(
      parts,
      new InlinedFiles(uploads, parts.limits.bodyBytesInFlightMax),
      idempotentRequests,
    ),
    ...generateFileEndpoints(parts, uploads),
    ...modelEndpoints(parts),
    ...balanceEndpoints(parts, database, usdRatePpm),
  ];
}
