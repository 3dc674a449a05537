import type { IncomingMessage, ServerResponse } from 'node:http';
import { playedBefore, problemAt, sendTask } from '../task-handler.ts';
import type { ProblemKind } from '../dialect.ts';
import { type Json, objectIn } from '../json.ts';
import { goneAddress, imageAddress } from '../media/address.ts';
import { readForm } from '../media/form.ts';
import { imageOf } from '../media/png.ts';
import { reply } from '../play.ts';
import { type Once, scenarioOf, withoutScenarios } from '../scenario.ts';
import type { SimTask } from '../video/task.ts';
import type {
  ImageCall,
  Submission,
  FinishedImage,
  ImageHandler,
  Poll,
  ImageRequest,
} from './handler.ts';
import { taskFor, newImageTask, imageTaskOf } from './task.ts';
import { handlers } from './vendors.ts';

/** The image handler for a URL. */
export function imageHandlerAt(url: string): ImageHandler | undefined {
  const [path = ''] = url.split('?');
  return handlers.find(({ at }) => at.test(path));
}

/** An image request to a vendor with tasks or binary responses; false for any other request. */
export async function handleImages(
  incoming: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  once: Once,
): Promise<boolean> {
  const [path = '', query = ''] = (incoming.url ?? '').split('?');
  const handler = imageHandlerAt(path);
  if (handler === undefined) return false;
  const { method = '', headers } = incoming;
  const form = readForm(headers, body);
  const raw: Json | undefined = form?.fields ?? (body.length === 0 ? {} : objectIn(body));
  const origin = `http://${headers.host ?? '127.0.0.1'}`;
  const call: ImageCall = {
    method,
    path,
    query: new URLSearchParams(query),
    headers,
    raw: raw ?? {},
    files: new Map(form?.files.map((file) => [file.name, file])),
    origin,
  };
  const refuse = (kind: ProblemKind, message?: string): true => {
    reply(response, handler.refuse(problemAt(call, kind, message)));
    return true;
  };
  const shut = handler.checkKey(call);
  if (shut !== undefined) return refuse(shut);
  if (raw === undefined) return refuse('bad_request', 'the body cannot be read');
  const taken = handler.take(call);
  if (taken === undefined) return refuse('unknown_url');
  if ('request' in taken) return submit(response, call, taken, handler, once);
  if ('report' in taken) return ask(response, call, taken, handler);
  reply(response, taken);
  return true;
}

/** For vendors whose requests name no model, the prompt names the scenario: `a cat [sim-500]`. */
function scenarioIn({ named, prompt }: ImageRequest): string {
  const [, scenario] = /\[(sim-[^\]]+)\]/.exec(prompt) ?? [];
  return scenario === undefined ? named : `${withoutScenarios(named)}+${scenario}`;
}

async function submit(
  response: ServerResponse,
  call: ImageCall,
  taken: Submission,
  handler: ImageHandler,
  once: Once,
): Promise<true> {
  const named = scenarioIn(taken.request);
  const request = { ...taken.request, named };
  if (await playedBefore(response, handler, call, request, once)) return true;
  const { task } = scenarioOf(named);
  if ('accepted' in taken) reply(response, taken.accepted(newImageTask(request)));
  else
    reply(
      response,
      taken.done(finishedImages(call, taskFor(request)), { moderated: task === 'moderated' }),
    );
  return true;
}

/** The images of a task. */
function finishedImages(
  { origin }: Pick<ImageCall, 'origin'>,
  { request }: SimTask,
): readonly FinishedImage[] {
  const { prompt, width, height, seconds: n, named } = request;
  const { lost } = scenarioOf(named);
  const url = lost === 'gone' ? goneAddress(origin) : imageAddress(origin, prompt, width, height);
  const base64 = (): string =>
    (lost === undefined
      ? imageOf(prompt, width, height)
      : Buffer.from('<html>lost</html>')
    ).toString('base64');
  return Array.from({ length: n }, () => ({ url, base64, width, height }));
}

function ask(
  response: ServerResponse,
  call: ImageCall,
  { id, report, unknown }: Poll,
  handler: ImageHandler,
): true {
  sendTask(response, handler, call, imageTaskOf(id), unknown, (task) =>
    report(task, finishedImages(call, task)),
  );
  return true;
}
