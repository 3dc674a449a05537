import type { Principal } from '../accounts/principal.ts';
import type { ImageCapability } from '../base/capability.ts';
import { type JsonObject, jsonText } from '../base/json.ts';
import { refuse, type Refusal, refusals, unavailable } from '../base/refusal.ts';
import type { Model, Offer } from '../catalog/snapshot.ts';
import type { ApiRequest, ClientFormat } from '../gateway/api-request.ts';
import type { IdempotentRequests } from '../gateway/idempotency.ts';
import { offerTo, requireOffer, endpointFor } from '../gateway/models/offers.ts';
import type { GatewayParts } from '../gateway/parts.ts';
import { run } from '../gateway/run.ts';
import type { SpoolPool } from '../http/spool.ts';
import { completedEvents } from '../providers/formats/images/completed.ts';
import type { ImageRequest } from '../providers/media-request.ts';
import type { Endpoint, RequestContext } from './endpoint.ts';
import { idempotentAfterRead, idempotent } from './idempotency.ts';
import {
  type ImagesBody,
  readImagesBody,
  type InputImages,
  readImageModel,
  readInputImages,
  parseImagePrompt,
  parseImageOptions,
  estimateImageUsage,
} from './image-request.ts';
import { type ParsedJson, type ParserContext, type RequestBody, takeJson } from './request-body.ts';

/** Newer models make a variation only when the prompt asks for one. */
const variation =
  'Make a variation of this picture: the same subject in the same style, composed anew.';
const noInputImages: InputImages = { images: [], mask: undefined };
const none: ReadonlyMap<string, string> = new Map();

/** The image endpoints: generations, edits and variations. */
export function imagesEndpoints(
  parts: GatewayParts,
  idempotency: IdempotentRequests,
  spools: SpoolPool,
  defaultModels: readonly string[],
): readonly Endpoint[] {
  return [
    idempotent(idempotency, {
      method: 'POST',
      path: '/images/generations',
      handle: (context) => generate(parts, defaultModels, context),
    }),
    editOrVary(parts, defaultModels, idempotency, spools, '/images/edits', 'image_edits'),
    editOrVary(parts, defaultModels, idempotency, spools, '/images/variations', 'image_variations'),
  ];
}

async function generate(
  parts: GatewayParts,
  defaultModels: readonly string[],
  context: RequestContext,
): Promise<void> {
  const sent = takeJson(context.request);
  const { body } = sent;
  const { model } = offered(parts, defaultModels, context.principal, 'images', body);
  const terms = model.image ?? {};
  const options = parseImageOptions(body, terms, parseImagePrompt(body, terms), noInputImages);
  await checkRoom(parts, context, options);
  const request = requestOf(context, 'images', model, sent, options);
  return run(parts, request, context.response, imagesFormat('image_generation', body, options));
}

function editOrVary(
  parts: GatewayParts,
  defaultModels: readonly string[],
  idempotency: IdempotentRequests,
  spools: SpoolPool,
  path: string,
  capability: 'image_edits' | 'image_variations',
): Endpoint {
  return {
    method: 'POST',
    path,
    body: 'stream',
    async handle(context) {
      const { request, held } = context;
      const sent = await readImagesBody(request.body, request.headers, spools, held);
      if (sent === 'left') return;
      try {
        await idempotentAfterRead(idempotency, context, sent.content, (inner) =>
          edit(parts, defaultModels, inner, capability, sent),
        );
      } finally {
        sent.discard();
      }
    },
  };
}

async function edit(
  parts: GatewayParts,
  defaultModels: readonly string[],
  context: RequestContext,
  capability: 'image_edits' | 'image_variations',
  sent: ImagesBody,
): Promise<void> {
  const { principal, response } = context;
  const { body, files } = sent;
  const { model } = offered(parts, defaultModels, principal, capability, body);
  const terms = model.image ?? {};
  const prompt = capability === 'image_variations' ? variation : parseImagePrompt(body, terms);
  // The options are checked before anything is downloaded.
  parseImageOptions(body, terms, prompt, noInputImages);
  const leaving = new AbortController();
  response.onLeave(() => leaving.abort());
  const images = await readInputImages(body, files, (wanted) =>
    parts.downloads.all(principal.userId, wanted, leaving.signal),
  ).finally(() => response.onLeave(undefined));
  if (leaving.signal.aborted) return;
  const options = parseImageOptions(body, terms, prompt, images);
  await checkRoom(parts, context, options);
  const request = requestOf(context, capability, model, sent, options);
  await run(parts, request, response, imagesFormat('image_edit', body, options));
}

/** Refuses the request before a vendor is called and paid, when there is no room for its images. */
async function checkRoom(
  { files }: GatewayParts,
  { id, principal }: ParserContext,
  { returns }: ImageRequest,
): Promise<void> {
  if (returns === 'b64_json') return;
  const room = await files.room(principal.userId);
  if (room === 'away') throw unavailable(id, 'pictures cannot be kept');
  if (room === 'full') refuse('too_many_files');
}

/** The offer of the requested model, if it makes images in this way. */
function offered(
  parts: GatewayParts,
  defaultModels: readonly string[],
  principal: Principal,
  capability: ImageCapability,
  body: RequestBody,
): Offer {
  const id = readImageModel(body) ?? defaultModel(parts, defaultModels, principal, capability);
  const offer = requireOffer(parts.catalog(), principal, id);
  const { model, candidates } = offer;
  if (model.kind !== 'image')
    refuse('wrong_endpoint', {
      model: id,
      kind: model.kind,
      endpoint: endpointFor[model.kind],
      param: 'model',
    });
  if (!makes(parts, { candidates }, capability))
    refuse('invalid_value', {
      param: 'model',
      why: `the model '${id}' cannot be asked for this: it makes pictures at ${endpointFor.image}.`,
    });
  return offer;
}

/** The first default model that this key can use and that makes images in this way. */
function defaultModel(
  parts: GatewayParts,
  defaultModels: readonly string[],
  principal: Principal,
  capability: ImageCapability,
): string {
  for (const id of defaultModels) {
    const offer = offerTo(parts.catalog(), principal, id);
    if (
      offer !== undefined &&
      makes(parts, offer, capability) &&
      (capability === 'images' || sees(offer))
    )
      return id;
  }
  return refuse('missing_model', { what: 'images', param: 'model' });
}

const makes = (
  { openChannels }: GatewayParts,
  { candidates }: Pick<Offer, 'candidates'>,
  capability: ImageCapability,
): boolean =>
  candidates.some(({ channel }) => openChannels.of(channel).adapter(capability) !== undefined);

const sees = ({ model: { modalities } }: Offer): boolean =>
  modalities?.in.includes('image') !== false;

function requestOf(
  { id, principal, request }: RequestContext,
  capability: ImageCapability,
  model: Model,
  { body, bytes, skeleton }: ParsedJson,
  options: ImageRequest,
): ApiRequest {
  const sized = estimateImageUsage(options, model);
  return {
    id,
    principal,
    capability,
    model: model.id,
    body,
    bytes,
    skeleton,
    headers: request.headers,
    stream: body['stream'] === true,
    includeUsage: true,
    choices: 0,
    outputTokensRequested: undefined,
    media: options.images.length === 0 ? none : new Map([['image', 'image']]),
    mediaCount: 0,
    textBytes: bytes.length,
    textTokensMax: sized.likely.input ?? 0,
    image: options,
    sized,
    text: () => options.prompt,
    answerId: `img-${id.slice(4)}`,
  };
}

/**
 * An image stream ends with its last image; an error is an event of its own (OpenAPI description of
 * the Images API, 2026-08).
 */
const imagesFormat = (
  kind: 'image_generation' | 'image_edit',
  body: RequestBody,
  request: ImageRequest,
): ClientFormat => ({
  done: '',
  keepAlive: ': keep-alive\n\n',
  errorEvent,
  wholeAsEvents(answer, quantities, dropped) {
    const { data = [], ...told }: ImagesAnswer = JSON.parse(answer.toString('utf8'));
    return completedEvents(data, { kind, told, request, body, quantities, dropped });
  },
});

function errorEvent(refusal: Refusal): string {
  const { type, code } = refusals[refusal.refusal];
  return `event: error\ndata: ${jsonText({ type: 'error', error: { type, code, message: refusal.message, param: refusal.param } })}\n\n`;
}

interface ImagesAnswer {
  readonly data?: readonly JsonObject[];
  readonly [more: string]: unknown;
}
