import type { IncomingMessage, ServerResponse } from 'node:http';
import { complain, parseRequest } from '../chat.ts';
import { readForm } from '../media/form.ts';
import { play } from '../play.ts';
import { readRequest } from '../request.ts';
import { type Once, scenarioOf, withoutScenarios } from '../scenario.ts';
import type { Route } from '../vendors.ts';
import { asQuestion } from '../vectors/writer.ts';
import {
  arkStudios,
  dashscopeStudios,
  fireworksStudios,
  openrouterStudios,
  siliconflowStudios,
  togetherStudios,
  xaiStudios,
} from './hosts.ts';
import { openAiStudios } from './openai.ts';
import type { Studio } from './studio.ts';

const studios: Readonly<Record<string, readonly Studio[]>> = {
  openai: openAiStudios,
  azure: openAiStudios,
  xai: xaiStudios,
  volcengine: arkStudios,
  qwen: dashscopeStudios,
  together: togetherStudios,
  fireworks: fireworksStudios,
  siliconflow: siliconflowStudios,
  openrouter: openrouterStudios,
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
  const studio = studios[dialect.vendor]?.find(({ path: at }) =>
    typeof at === 'string' ? at === below : at.test(below),
  );
  if (studio === undefined) return false;
  const form = readForm(incoming.headers, body);
  const parsed = parseRequest(incoming, response, form?.fields ?? body, route);
  if (parsed === undefined) return true;
  const { raw, problem } = parsed;
  const named =
    parsed.named || (studio.path instanceof RegExp && studio.path.exec(below)?.[1]) || '';
  const scenario = scenarioOf(named);
  const model = withoutScenarios(named);
  const order = {
    model,
    raw,
    form,
    base: `http://${incoming.headers.host ?? ''}`,
    lost: scenario.lost,
  };
  const complaint = studio.complaint(order);
  if (complaint !== undefined) {
    complain(response, dialect, { model, problem }, complaint);
    return true;
  }
  const stream = raw['stream'] === true || raw['stream'] === 'true';
  const request = readRequest({ ...asQuestion([studio.prompt(order)]), stream }, model);
  await play(
    response,
    request,
    dialect,
    { ...scenario, reasons: false },
    once,
    problem,
    studio.writer(order),
  );
  return true;
}
