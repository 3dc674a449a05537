import type { Problem, ProblemKind, Reply } from '../dialect.ts';
import type { Json } from '../json.ts';
import type { Violation } from './proto.ts';

/** The differences between the two APIs to Google's models. */
export interface Surface {
  readonly api: 'gemini' | 'vertex';
  /** The path before the model's id in its full name. */
  readonly models: string;
}

const statuses: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  413: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

/** google.rpc.Status as JSON (cloud.google.com/apis/design/errors; recorded). */
export function status(code: number, message: string, details: readonly Json[] = []): Reply {
  return {
    status: code,
    body: {
      error: { code, message, status: statuses[code], ...(details.length > 0 && { details }) },
    },
  };
}

const type = (name: string, members: Json): Json => ({
  '@type': `type.googleapis.com/google.rpc.${name}`,
  ...members,
});
const reason = (word: string, service: string): Json =>
  type('ErrorInfo', {
    reason: word,
    domain: 'googleapis.com',
    metadata: { service: `${service}.googleapis.com` },
  });

/** The refusal of a malformed message: all violations, one per line. */
export function malformed(violations: readonly Violation[]): Reply {
  const message = violations.map(({ description }) => description).join('\n');
  return status(400, message, [
    type('BadRequest', {
      fieldViolations: violations.map(({ field, description }) => ({ field, description })),
    }),
  ]);
}

export const unreadable = (body: Buffer): Reply =>
  status(
    400,
    `Invalid JSON payload received. Unexpected token.\n${body.toString('utf8').slice(0, 40)}\n^`,
  );

export const keyMissing: Reply = status(
  403,
  "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
);

export const keyInvalid: Reply = status(400, 'API key not valid. Please pass a valid API key.', [
  reason('API_KEY_INVALID', 'generativelanguage'),
  type('LocalizedMessage', {
    locale: 'en-US',
    message: 'API key not valid. Please pass a valid API key.',
  }),
]);

const oauth =
  'Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.';

export const tokenMissing: Reply = status(
  401,
  `Request is missing required authentication credential. ${oauth}`,
  [reason('CREDENTIALS_MISSING', 'aiplatform')],
);

export const tokenInvalid: Reply = status(
  401,
  `Request had invalid authentication credentials. ${oauth}`,
  [reason('ACCESS_TOKEN_EXPIRED', 'aiplatform')],
);

/** `method`: the called method. */
export function unknownModel({ api, models }: Surface, id: string, method: string): Reply {
  if (api === 'vertex')
    return status(
      404,
      `Publisher Model \`${models}${id}\` not found or your project does not have access to it. Please ensure you are using a valid model version.`,
    );
  const does = method === 'streamGenerateContent' ? 'generateContent' : method;
  return status(
    404,
    `models/${id} is not found for API version v1beta, or is not supported for ${does}. Call ModelService.ListModels to see the list of available models and their supported methods.`,
  );
}

/** The refusal of a scenario, in this API's text. */
export function refusal(surface: Surface, problem: Problem): Reply {
  const filled = scenarios[problem.kind](surface, problem);
  return { ...filled, ...inStream(problem.path, filled) };
}

/**
 * The error of a stream is a list without server-sent events, and has their content type with them
 * (both recorded).
 */
function inStream(path: string, { status: code, body }: Reply): Partial<Reply> {
  if (!path.includes(':streamGenerateContent')) return {};
  const headers = {
    'content-type': path.includes('alt=sse')
      ? 'text/event-stream'
      : 'application/json; charset=UTF-8',
  };
  const json = JSON.stringify(body);
  if (path.includes('alt=sse'))
    return { headers, body: code === 200 ? `data: ${json}\r\n\r\n` : json };
  return { headers, body: `[${json}]` };
}

type ScenarioReply = (surface: Surface, problem: Problem) => Reply;

const exhausted: ScenarioReply = ({ api }, { model, retryAfterS = 0 }) => {
  if (api === 'vertex')
    return status(
      429,
      'Resource exhausted. Please try again later. Please refer to https://cloud.google.com/vertex-ai/generative-ai/docs/error-code-429 for more details.',
    );
  const metric = 'generativelanguage.googleapis.com/generate_content_paid_tier_requests';
  const message = `You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.\n* Quota exceeded for metric: ${metric}, limit: 3, model: ${model}\nPlease retry in ${retryAfterS}s.`;
  const violation = {
    quotaMetric: metric,
    quotaId: 'GenerateRequestsPerMinutePerProjectPerModel-PaidTier',
    quotaDimensions: { location: 'global', model },
    quotaValue: '3',
  };
  return status(429, message, [
    type('QuotaFailure', { violations: [violation] }),
    type('Help', {
      links: [
        {
          description: 'Learn more about Gemini API quotas',
          url: 'https://ai.google.dev/gemini-api/docs/rate-limits',
        },
      ],
    }),
    type('RetryInfo', { retryDelay: `${retryAfterS}s` }),
  ]);
};

/**
 * Recorded, or from ai.google.dev/gemini-api/docs/troubleshooting, 2026-08. A blocked prompt is no
 * error here.
 */
const scenarios: Readonly<Record<ProblemKind, ScenarioReply>> = {
  missing_key: ({ api }) => (api === 'vertex' ? tokenMissing : keyMissing),
  wrong_key: ({ api }) => (api === 'vertex' ? tokenInvalid : keyInvalid),
  unknown_url: () => ({
    status: 404,
    headers: { 'content-type': 'text/html; charset=UTF-8' },
    body: notFoundPage,
  }),
  unknown_model: (surface, { model }) => unknownModel(surface, model, 'generateContent'),
  bad_request: () => status(400, 'Request contains an invalid argument.'),
  context: (_, { promptTokens }) =>
    status(
      400,
      `The input token count (${promptTokens}) exceeds the maximum number of tokens allowed (16).`,
    ),
  policy: (_, { model, promptTokens }) => ({
    status: 200,
    body: {
      promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
      usageMetadata: {
        promptTokenCount: promptTokens,
        totalTokenCount: promptTokens,
        promptTokensDetails: [{ modality: 'TEXT', tokenCount: promptTokens }],
      },
      modelVersion: model,
      responseId: 'sim',
    },
  }),
  rate: exhausted,
  quota: ({ api }) =>
    api === 'vertex'
      ? status(
          403,
          'This API method requires billing to be enabled. Please enable billing on project sim-project.',
          [reason('BILLING_DISABLED', 'aiplatform')],
        )
      : status(
          429,
          'Your prepayment credits are depleted. Please go to AI Studio at https://ai.studio/projects to manage your project and billing.',
        ),
  server: () =>
    status(
      500,
      'An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting',
    ),
  overloaded: () => status(503, 'The model is overloaded. Please try again later.'),
};

const notFoundPage =
  '<!DOCTYPE html>\n<html lang=en>\n  <title>Error 404 (Not Found)!!1</title>\n  <p><b>404.</b> <ins>That’s an error.</ins>\n  <p>The requested URL was not found on this server.  <ins>That’s all we know.</ins>\n';
