import type { Parts } from '../gateway/parts.ts';
import { countInput } from '../gateway/inquire.ts';
import { run } from '../gateway/run.ts';
import type { ResponseMemory } from '../recall/responses.ts';
import { chatFormat, parseChat } from './chat.ts';
import { parseJson } from './check.ts';
import { completionsFormat, parseCompletion } from './completions.ts';
import { messagesConvention } from './convention.ts';
import type { Endpoint, Visit } from './door.ts';
import { messagesFormat, parseMessages, parseQuestion, renderCount } from './messages-endpoint.ts';
import { getModel, listModels } from './models.ts';
import { responsesEndpoints } from './responses-endpoints.ts';

/** The interface, row by row. */
export function endpointsOf(parts: Parts, memory: ResponseMemory): readonly Endpoint[] {
  return [
    {
      method: 'POST',
      path: '/chat/completions',
      handle: ({ id, principal, request, reply }: Visit) => {
        const { body, bytes } = parseJson(request.body, request.headers['content-type']);
        return run(parts, parseChat(id, principal, body, bytes), reply, chatFormat);
      },
    },
    {
      method: 'POST',
      path: '/completions',
      handle: ({ id, principal, request, reply }) => {
        const { body, bytes } = parseJson(request.body, request.headers['content-type']);
        return run(parts, parseCompletion(id, principal, body, bytes), reply, completionsFormat);
      },
    },
    {
      method: 'POST',
      path: '/messages',
      convention: messagesConvention,
      handle: ({ id, principal, request, reply }) => {
        const { body, bytes } = parseJson(request.body, request.headers['content-type']);
        return run(parts, parseMessages(id, principal, request.headers, body, bytes), reply, messagesFormat);
      },
    },
    {
      method: 'POST',
      path: '/messages/count_tokens',
      convention: messagesConvention,
      handle: ({ id, principal, request, reply }) => {
        const { body, bytes } = parseJson(request.body, request.headers['content-type']);
        return countInput(parts, parseQuestion(id, principal, request.headers, body, bytes), reply, messagesFormat, renderCount);
      },
    },
    ...responsesEndpoints(parts, memory),
    {
      method: 'GET',
      path: '/models',
      handle: ({ principal, reply }) => reply.whole(200, 'application/json', listModels(parts.catalog(), principal.group)),
    },
    {
      method: 'GET',
      path: '/models/*',
      handle: ({ principal, request, reply }) =>
        reply.whole(200, 'application/json', getModel(parts.catalog(), principal.group, modelId(request.params))),
    },
  ];
}

function modelId(params: unknown): string {
  if (typeof params === 'object' && params !== null && '*' in params && typeof params['*'] === 'string') return params['*'];
  throw new Error('the route of a model has a wildcard');
}
