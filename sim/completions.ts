import type { IncomingMessage, ServerResponse } from 'node:http';
import { complain, parseRequest, streamEnds } from './chat.ts';
import { legacyOf } from './completions-vendors.ts';
import { completionBody, completionEvents, promptsOf } from './completions-write.ts';
import { type Json, number } from './json.ts';
import { play } from './play.ts';
import { readRequest } from './request.ts';
import { completionComplaint } from './rules/completions.ts';
import { type Once, scenarioOf } from './scenario.ts';
import type { Route } from './vendors.ts';
import { streamEvents, wholeBody } from './write.ts';

/** OpenAI's default for `max_tokens`. */
const outputTokensUsual = 16;

/** One completion request as its vendor answers it; false when the vendor has no such endpoint. */
export async function completions(
  incoming: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  route: Route,
  once: Once,
): Promise<boolean> {
  const { dialect, path } = route;
  const legacy = legacyOf(dialect.vendor);
  if (legacy === undefined || path !== (legacy.path ?? '/completions')) return false;
  const parsed = parseRequest(incoming, response, body, route);
  if (parsed === undefined) return true;
  const { raw, named, model, problem } = parsed;
  const complaint = completionComplaint(raw, model, legacy);
  if (complaint !== undefined) {
    complain(response, dialect, parsed, complaint);
    return true;
  }
  const request = readRequest(asChat(raw), model);
  await play(response, request, dialect, { ...scenarioOf(named), reasons: false }, once, problem, {
    ...streamEnds(dialect),
    events: (answer) =>
      legacy.asChat === true
        ? streamEvents(answer, request, dialect)
        : completionEvents(answer, raw, request, dialect),
    whole: (answer) =>
      legacy.asChat === true
        ? wholeBody(answer, request, dialect)
        : completionBody(answer, raw, dialect),
  });
  return true;
}

/** The same for a chat model: all prompts in one, and a choice for each. */
function asChat(raw: Json): Json {
  const prompts = promptsOf(raw);
  const { prompt: _, suffix: __, echo: ___, best_of: ____, logprobs: _____, ...rest } = raw;
  return {
    ...rest,
    messages: [{ role: 'user', content: prompts.join('\n') }],
    max_tokens: number(raw['max_tokens']) ?? outputTokensUsual,
    n: (number(raw['n']) ?? 1) * prompts.length,
  };
}
