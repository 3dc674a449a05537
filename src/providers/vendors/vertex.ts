import { googleCredentials, tokenAuthorizer } from '../google-token.ts';
import type { Adapter, Call, Inquiry } from '../adapter.ts';
import { countsOverChat } from '../bridges/count-over-chat.ts';
import { messagesOverChat } from '../bridges/messages-over-chat.ts';
import type { MessagesHost } from '../wire/anthropic-messages-ask.ts';
import { anthropicCountAt, anthropicNative } from '../wire/anthropic-native.ts';
import { anthropicMessages } from '../wire/anthropic-messages.ts';
import { vertexCount } from '../wire/gemini-count.ts';
import { geminiSpeech } from '../wire/gemini-speech.ts';
import { geminiChat } from '../wire/gemini.ts';
import { isObject, parse } from '../wire/json.ts';
import { geminiImages } from '../wire/images/gemini.ts';
import { imagen } from '../wire/images/imagen.ts';
import { everyWay, perModel } from '../wire/images/ways.ts';
import { perCall } from '../wire/per-call.ts';
import { vertexVideo } from '../wire/video/veo.ts';
import { bearer, defineVendor } from '../vendor.ts';
import { vertexEmbeddings } from '../wire/gemini-embeddings.ts';

/**
 * Access tokens as `gcloud auth print-access-token` prints them; other words are keys of express
 * mode (cloud.google.com/vertex-ai/generative-ai/docs/start/express-mode, 2026-08).
 */
const accessToken = /^ya29\./;

/**
 * Claude as Vertex sells it (platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai,
 * 2026-08): version in the body, model in the path, bytes instead of addresses.
 */
const onVertex = {
  bodyVersion: 'vertex-2023-10-16',
  path: (model, stream) =>
    `/publishers/anthropic/models/${encodeURIComponent(model)}:${stream ? 'streamRawPredict' : 'rawPredict'}`,
  fetches: false,
  structured: false,
} satisfies MessagesHost;

const isClaude = ({ upstreamModel }: Call): boolean => upstreamModel.startsWith('claude-');

/** Each publisher's models speak as they do at home. */
const byPublisher = (claude: Adapter, gemini: Adapter): Adapter =>
  perCall((call) => (isClaude(call) ? claude : gemini), faultByPublisher(claude, gemini));

/**
 * Google refuses in its own words whosever model was asked for; a publisher's words mark
 * themselves.
 */
function faultByPublisher(claude: Inquiry, gemini: Inquiry): Inquiry['fault'] {
  return (status, headers, reply) => {
    const body = parse(reply);
    return (isObject(body) && body['type'] === 'error' ? claude : gemini).fault(
      status,
      headers,
      reply,
    );
  };
}

/**
 * platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai, 2026-08: a model of its own
 * counts for all of them.
 */
const claudeCount = anthropicCountAt(
  '/publishers/anthropic/models/count-tokens:rawPredict',
  onVertex.bodyVersion,
);

function countByPublisher(claude: Inquiry, gemini: Inquiry): Inquiry {
  const of = (call: Call): Inquiry => (isClaude(call) ? claude : gemini);
  return {
    ask: (call) => of(call).ask(call),
    read: (reply, contentType, call) => of(call).read(reply, contentType, call),
    fault: faultByPublisher(claude, gemini),
  };
}

/**
 * `https://LOCATION-aiplatform.googleapis.com` is enough where the secret is a credentials file
 * that names its project. An address that names project and location itself stays as it is, and a
 * key of express mode needs neither.
 */
function home(baseUrl: string, secret: string | undefined): string {
  const url = new URL(baseUrl);
  const path = url.pathname.replace(/(?:\/publishers\/[^/]*)?\/*$/, '');
  if (path.includes('/projects/')) return url.origin + path;
  const project = googleCredentials(secret)?.project;
  const location = /^([a-z]+-[a-z]+\d+)-aiplatform\./.exec(url.hostname)?.[1] ?? 'global';
  return `${url.origin}${path || '/v1'}${project === undefined ? '' : `/projects/${encodeURIComponent(project)}/locations/${location}`}`;
}

export const vertex = defineVendor({
  id: 'vertex',
  provider: 'gcp.vertex_ai',
  ownedBy: 'google',
  baseUrl: 'https://aiplatform.googleapis.com',
  consoleUrl: 'https://console.cloud.google.com/vertex-ai',
  sign(secret) {
    if (!secret || googleCredentials(secret) !== undefined) return {};
    return accessToken.test(secret) ? bearer(secret) : { 'x-goog-api-key': secret };
  },
  authorizer(secret, means) {
    const credentials = googleCredentials(secret);
    return credentials && tokenAuthorizer(credentials, means);
  },
  home,
  place: (_, path) => (path.startsWith('/models/') ? `/publishers/google${path}` : path),
  speaks: {
    embeddings: vertexEmbeddings,
    speech: geminiSpeech,
    chat: byPublisher(anthropicMessages(onVertex), geminiChat),
    messages: byPublisher(anthropicNative(onVertex), messagesOverChat(geminiChat)),
    ...everyWay(
      perModel(
        ({ upstreamModel }) => (upstreamModel.startsWith('imagen') ? imagen : geminiImages),
        geminiImages.fault,
      ),
    ),
    video: vertexVideo,
  },
  counts: {
    ...countsOverChat(vertexCount),
    messages: countByPublisher(claudeCount, countsOverChat(vertexCount).messages),
  },
});
