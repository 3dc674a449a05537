import type { Principal } from '../accounts/principal.ts';
import type { PicturedCapability } from '../base/capability.ts';
import { refuse } from '../base/refusal.ts';
import type { Offer } from '../catalog/snapshot.ts';
import { offerTo } from '../gateway/allowed.ts';
import { endpointFor } from '../gateway/kinds.ts';
import type { Parts } from '../gateway/parts.ts';
import type { ClientRequest } from '../gateway/request.ts';
import { unavailableRetryMs } from '../gateway/reserve.ts';
import { run } from '../gateway/run.ts';
import type { Submissions } from '../gateway/submissions.ts';
import type { Spools } from '../http/spool.ts';
import type { ImageWish } from '../providers/image-wish.ts';
import { type Body, parseJson, requiredString } from './check.ts';
import type { Asked, Endpoint, Visit } from './door.ts';
import { onceRead, once } from './idempotency.ts';
import { type ImagesBody, readImagesBody } from './images-body.ts';
import { imagesFormat } from './images-events.ts';
import { type Given, givenImages } from './images-given.ts';
import { readPrompt, readWish, sizedAs } from './images-wish.ts';

/** Models that are asked in words for what older ones did unasked. */
const variation =
  'Make a variation of this picture: the same subject in the same style, composed anew.';
const nothingGiven: Given = { images: [], mask: undefined };
const none: ReadonlyMap<string, string> = new Map();

/** What makes pictures: of words, of words and pictures, of a picture alone. */
export function imagesEndpoints(
  parts: Parts,
  submissions: Submissions,
  spools: Spools,
  defaultModels: readonly string[],
): readonly Endpoint[] {
  return [
    once(submissions, {
      method: 'POST',
      path: '/images/generations',
      handle: (visit) => generate(parts, defaultModels, visit),
    }),
    given(parts, defaultModels, submissions, spools, '/images/edits', 'image_edits'),
    given(parts, defaultModels, submissions, spools, '/images/variations', 'image_variations'),
  ];
}

async function generate(
  parts: Parts,
  defaultModels: readonly string[],
  { id, principal, request, reply }: Visit,
): Promise<void> {
  const { body, bytes } = parseJson(request.body, request.headers['content-type']);
  const offer = offered(parts, defaultModels, principal, 'images', body);
  const terms = offer.model.image ?? {};
  const wish = readWish(body, terms, readPrompt(body, terms), nothingGiven);
  await haveRoom(parts, id, principal, wish);
  return run(
    parts,
    asRequest({ id, principal, request, capability: 'images', offer, body, bytes, wish }),
    reply,
    imagesFormat('image_generation'),
  );
}

function given(
  parts: Parts,
  defaultModels: readonly string[],
  submissions: Submissions,
  spools: Spools,
  path: string,
  capability: 'image_edits' | 'image_variations',
): Endpoint {
  return {
    method: 'POST',
    path,
    body: 'stream',
    async handle(visit) {
      const sent = await readImagesBody(visit.request.body, visit.request.headers, spools);
      if (sent === 'left') return;
      try {
        await onceRead(submissions, visit, sent.digest, (inner) =>
          edit(parts, defaultModels, inner, capability, sent),
        );
      } finally {
        sent.discard();
      }
    },
  };
}

async function edit(
  parts: Parts,
  defaultModels: readonly string[],
  visit: Visit,
  capability: 'image_edits' | 'image_variations',
  sent: ImagesBody,
): Promise<void> {
  const { id, principal, request, reply } = visit;
  const { body, bytes, files } = sent;
  const offer = offered(parts, defaultModels, principal, capability, body);
  const terms = offer.model.image ?? {};
  const prompt = capability === 'image_variations' ? variation : readPrompt(body, terms);
  // All words are looked at before anything is downloaded for them.
  readWish(body, terms, prompt, nothingGiven);
  const leaving = new AbortController();
  reply.onLeave(() => leaving.abort());
  const pictures = await givenImages(body, files, parts.downloads, leaving.signal).finally(() =>
    reply.onLeave(undefined),
  );
  if (leaving.signal.aborted) return;
  const wish = readWish(body, terms, prompt, pictures);
  await haveRoom(parts, id, principal, wish);
  await run(
    parts,
    asRequest({ id, principal, request, capability, offer, body, bytes, wish }),
    reply,
    imagesFormat('image_edit'),
  );
}

/** Nobody is asked, and paid, for a picture that there is no room for. */
async function haveRoom(
  { files }: Parts,
  id: string,
  { userId }: Principal,
  { returns }: ImageWish,
): Promise<void> {
  if (returns === 'b64_json') return;
  const room = await files.room(userId);
  if (room === 'away')
    refuse('unavailable', { why: 'pictures cannot be kept', id }, unavailableRetryMs);
  if (room === 'full') refuse('too_many_files');
}

/** What the client asks for, if it is something that makes pictures in this way. */
function offered(
  parts: Parts,
  defaultModels: readonly string[],
  principal: Principal,
  capability: PicturedCapability,
  body: Body,
): Offer {
  const { model: named } = body;
  const id =
    named === undefined || named === null
      ? defaultModel(parts, defaultModels, principal, capability)
      : requiredString(body, 'model');
  const offer = offerTo(parts.catalog(), principal, id);
  if (offer === undefined) refuse('model_not_found', { model: id, param: 'model' });
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

/** The first model of the defaults that this key can use and that makes pictures in this way. */
function defaultModel(
  parts: Parts,
  defaultModels: readonly string[],
  principal: Principal,
  capability: PicturedCapability,
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
  { lanes }: Parts,
  { candidates }: Pick<Offer, 'candidates'>,
  capability: PicturedCapability,
): boolean => candidates.some(({ channel }) => lanes.of(channel).adapter(capability) !== undefined);

const sees = ({ model: { modalities } }: Offer): boolean =>
  modalities?.in.includes('image') !== false;

interface Understood {
  readonly id: string;
  readonly principal: Principal;
  readonly request: Asked;
  readonly capability: PicturedCapability;
  readonly offer: Offer;
  readonly body: Body;
  readonly bytes: Buffer;
  readonly wish: ImageWish;
}

function asRequest({
  id,
  principal,
  request,
  capability,
  offer: { model },
  body,
  bytes,
  wish,
}: Understood): ClientRequest {
  const sized = sizedAs(wish, model);
  return {
    id,
    principal,
    capability,
    model: model.id,
    body,
    bytes,
    headers: request.headers,
    stream: body['stream'] === true,
    includeUsage: true,
    choices: 0,
    outputTokensAsked: undefined,
    media: wish.images.length === 0 ? none : new Map([['image', 'image']]),
    mediaCount: 0,
    mediaBytes: 0,
    textTokensMax: sized.likely.input ?? 0,
    image: wish,
    sized,
    text: () => wish.prompt,
    answerId: `img-${id.slice(4)}`,
  };
}
