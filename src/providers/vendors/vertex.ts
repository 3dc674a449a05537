import { googleCredentials, tokenAuthorizer } from '../google-token.ts';
import type { Adapter } from '../adapter.ts';
import { messagesOverChat } from '../bridges/messages-over-chat.ts';
import type { MessagesHost } from '../wire/anthropic-messages-ask.ts';
import { anthropicNative } from '../wire/anthropic-native.ts';
import { anthropicMessages } from '../wire/anthropic-messages.ts';
import { geminiChat } from '../wire/gemini.ts';
import { isObject, parse } from '../wire/json.ts';
import { perCall } from '../wire/per-call.ts';
import { bearer, defineVendor } from '../vendor.ts';

/** Access tokens as `gcloud auth print-access-token` prints them; other words are keys of express mode (cloud.google.com/vertex-ai/generative-ai/docs/start/express-mode, 2026-08). */
const accessToken = /^ya29\./;

/** Claude as Vertex sells it (platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai, 2026-08): version in the body, model in the path, bytes instead of addresses. */
const onVertex = {
  bodyVersion: 'vertex-2023-10-16',
  path: (model, stream) => `/publishers/anthropic/models/${encodeURIComponent(model)}:${stream ? 'streamRawPredict' : 'rawPredict'}`,
  fetches: false,
  structured: false,
} satisfies MessagesHost;

/** Each publisher's models speak as they do at home. */
function byPublisher(claude: Adapter, gemini: Adapter): Adapter {
  return perCall(
    (call) => (call.upstreamModel.startsWith('claude-') ? claude : gemini),
    (status, headers, reply) => {
      // Google refuses in its own words whosever model was asked for; a publisher's words mark themselves.
      const body = parse(reply);
      return (isObject(body) && body['type'] === 'error' ? claude : gemini).fault(status, headers, reply);
    },
  );
}

/**
 * `https://LOCATION-aiplatform.googleapis.com` is enough where the secret is a credentials file that names its project. An address that names
 * project and location itself stays as it is, and a key of express mode needs neither.
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
  ownedBy: 'google',
  baseUrl: 'https://aiplatform.googleapis.com',
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
    chat: byPublisher(anthropicMessages(onVertex), geminiChat),
    messages: byPublisher(anthropicNative(onVertex), messagesOverChat(geminiChat)),
  },
});
