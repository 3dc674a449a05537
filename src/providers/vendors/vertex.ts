import { googleCredentials, tokenAuthorizer } from '../google-token.ts';
import { geminiChat } from '../wire/gemini.ts';
import { bearer, defineVendor } from '../vendor.ts';

/** Access tokens as `gcloud auth print-access-token` prints them; other words are keys of express mode (cloud.google.com/vertex-ai/generative-ai/docs/start/express-mode, 2026-08). */
const accessToken = /^ya29\./;

/**
 * `https://LOCATION-aiplatform.googleapis.com` is enough where the secret is a credentials file that names its project. An address that names
 * project and location itself stays as it is, and a key of express mode needs neither.
 */
function home(baseUrl: string, secret: string | undefined): string {
  const url = new URL(baseUrl);
  const path = url.pathname.replace(/\/+$/, '');
  if (path.includes('/projects/')) return baseUrl;
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
  place: (prefix, path) => (prefix.includes('/publishers/') || !path.startsWith('/models/') ? path : `/publishers/google${path}`),
  speaks: { chat: geminiChat },
});
