import { googleCredentials, googleAuthorizer } from '../google-credentials.ts';
import type { Adapter, VendorCall, BaseAdapter } from '../adapter.ts';
import { countsOverChat } from '../bridges/index.ts';
import { embedOverEmbeddings } from '../bridges/embed-over-embeddings.ts';
import { generateOverChat } from '../bridges/generate-over-chat.ts';
import { messagesOverChat } from '../bridges/messages-over-chat.ts';
import type { MessagesHost } from '../formats/anthropic-messages/request.ts';
import { anthropicCountAt, anthropicNative } from '../formats/anthropic-messages/native.ts';
import { anthropicMessages } from '../formats/anthropic-messages/adapter.ts';
import { geminiNative, vertexNativeCount } from '../formats/gemini/native.ts';
import { vertexCount, geminiChat } from '../formats/gemini/adapter.ts';
import { geminiSpeech } from '../formats/audio/gemini.ts';
import { isObject, objectOf, parse } from '../../base/json.ts';
import { geminiImages, imagen } from '../formats/images/gemini.ts';
import {
  type ChatCount,
  forAllImageOperations,
  picturesPerCall,
  perCall,
} from '../formats/adapters.ts';
import { vertexVideo } from '../formats/video/veo.ts';
import { bearer, defineVendor } from '../vendor.ts';
import { vertexEmbeddings } from '../formats/embeddings/gemini.ts';

/**
 * Access tokens as `gcloud auth print-access-token` prints them; other secrets are keys of express
 * mode (cloud.google.com/vertex-ai/generative-ai/docs/start/express-mode, 2026-08).
 */
const accessToken = /^ya29\./;

/**
 * Claude as Vertex sells it (platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai,
 * 2026-08): version in the body, model in the path, bytes instead of addresses. Structured outputs
 * need a feature that a project's policy has to allow (vercel/ai#20717, 2026-09); the other ways to
 * an answer in JSON work in every project.
 */
const onVertex = {
  bodyVersion: 'vertex-2023-10-16',
  path: (model, stream) =>
    `/publishers/anthropic/models/${encodeURIComponent(model)}:${stream ? 'streamRawPredict' : 'rawPredict'}`,
  fetches: false,
  structured: false,
} satisfies MessagesHost;

const isClaude = ({ upstreamModel }: VendorCall): boolean => upstreamModel.startsWith('claude-');

/** Each publisher's models have the wire format of their publisher. */
const byPublisher = (claude: Adapter, gemini: Adapter): Adapter =>
  perCall((call) => (isClaude(call) ? claude : gemini), faultByPublisher(claude, gemini));

/**
 * Errors of Google have Google's format, whichever publisher's model was requested; Anthropic's
 * errors have the type `error`.
 */
function faultByPublisher(claude: BaseAdapter, gemini: BaseAdapter): BaseAdapter['fault'] {
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
 * platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai, 2026-08: a special model
 * counts the tokens for all Claude models.
 */
const claudeCount = anthropicCountAt(
  '/publishers/anthropic/models/count-tokens:rawPredict',
  onVertex.bodyVersion,
);

/** The same for a chat request, which is translated to Claude's format. */
const claudeChatCount: ChatCount = {
  ask(call) {
    const { body } = anthropicMessages(onVertex).ask(call);
    const { max_tokens: _, stream: __, ...counted } = objectOf(parse(body.toString('utf8'))) ?? {};
    const bytes = Buffer.from(JSON.stringify({ model: call.upstreamModel, ...counted }));
    return claudeCount.ask({ ...call, body: counted, bytes, skeleton: undefined });
  },
  member: 'input_tokens',
  fault: claudeCount.fault,
};

const geminiCounts = countsOverChat(vertexCount);

function countByPublisher(claude: BaseAdapter, gemini: BaseAdapter): BaseAdapter {
  const of = (call: VendorCall): BaseAdapter => (isClaude(call) ? claude : gemini);
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
  authorizer(secret, context) {
    const credentials = googleCredentials(secret);
    return credentials && googleAuthorizer(credentials, context);
  },
  baseUrlFor: home,
  pathFor: (_, path) => (path.startsWith('/models/') ? `/publishers/google${path}` : path),
  readsCacheMarks: true,
  adapters: {
    embeddings: vertexEmbeddings,
    embed_content: embedOverEmbeddings(vertexEmbeddings, true),
    speech: geminiSpeech,
    chat: byPublisher(anthropicMessages(onVertex), geminiChat),
    generate_content: byPublisher(generateOverChat(anthropicMessages(onVertex)), geminiNative),
    messages: byPublisher(anthropicNative(onVertex), messagesOverChat(geminiChat)),
    ...forAllImageOperations(
      picturesPerCall(
        ({ upstreamModel }) => (upstreamModel.startsWith('imagen') ? imagen : geminiImages),
        geminiImages.fault,
      ),
    ),
    video: vertexVideo,
  },
  counts: {
    ...geminiCounts,
    messages: countByPublisher(claudeCount, geminiCounts.messages),
    generate_content: countByPublisher(
      countsOverChat(claudeChatCount).generate_content,
      vertexNativeCount,
    ),
  },
});
