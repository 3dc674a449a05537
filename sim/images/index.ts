import type { IncomingMessage, ServerResponse } from 'node:http';
import { complain, parseRequest } from '../chat.ts';
import { readForm } from '../media/form.ts';
import { play } from '../play.ts';
import { readRequest } from '../request.ts';
import { type Once, scenarioOf, withoutScenarios } from '../scenario.ts';
import type { Route } from '../vendors.ts';
import { asQuestion } from '../vectors/writer.ts';
import {
  arkImages,
  dashscopeImages,
  fireworksImages,
  openrouterImages,
  siliconflowImages,
  togetherImages,
  xaiImages,
} from './hosts.ts';
import { openAiImages } from './openai.ts';
import type { ImageEndpoint } from './endpoint.ts';

const endpoints: Readonly<Record<string, readonly ImageEndpoint[]>> = {
  openai: openAiImages,
  azure: openAiImages,
  xai: xaiImages,
  volcengine: arkImages,
  qwen: dashscopeImages,
  together: togetherImages,
  fireworks: fireworksImages,
  siliconflow: siliconflowImages,
  openrouter: openrouterImages,
};

/** One image request as its vendor answers it; false when the vendor has no such endpoint. */
export async function images(
  incoming: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  route: Route,
  once: Once,
): Promise<boolean> {
  const { dialect, path } = route;
  const below = path === '' ? (incoming.url ?? '') : path;
  const endpoint = endpoints[dialect.vendor]?.find(({ path: at }) =>
    typeof at === 'string' ? at === below : at.test(below),
  );
  if (endpoint === undefined) return false;
  const form = readForm(incoming.headers, body);
  const parsed = parseRequest(incoming, response, form?.fields ?? body, route);
  if (parsed === undefined) return true;
  const { raw, problem } = parsed;
  const named =
    parsed.named || (endpoint.path instanceof RegExp && endpoint.path.exec(below)?.[1]) || '';
  const scenario = scenarioOf(named);
  const model = withoutScenarios(named);
  const call = {
    model,
    raw,
    form,
    base: `http://${incoming.headers.host ?? ''}`,
    lost: scenario.lost,
  };
  const complaint = endpoint.complaint(call);
  if (complaint !== undefined) {
    complain(response, dialect, { model, problem }, complaint);
    return true;
  }
  const stream = raw['stream'] === true || raw['stream'] === 'true';
  const request = readRequest({ ...asQuestion([endpoint.prompt(call)]), stream }, model);
  await play(
    response,
    request,
    dialect,
    { ...scenario, reasons: false },
    once,
    problem,
    endpoint.writer(call),
  );
  return true;
}
