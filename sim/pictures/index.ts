import type { IncomingMessage, ServerResponse } from 'node:http';
import { playedBefore, problemAt, tell } from '../desk.ts';
import type { ProblemKind } from '../dialect.ts';
import { type Json, objectIn } from '../json.ts';
import { goneAddress, pictureAddress } from '../media/address.ts';
import { readForm } from '../media/form.ts';
import { pictureOf } from '../media/png.ts';
import { reply } from '../play.ts';
import { type Once, scenarioOf, withoutScenarios } from '../scenario.ts';
import type { SimTask } from '../video/task.ts';
import type { DeskCall, Order, Painted, PictureDesk, Question, Wish } from './desk.ts';
import { atOnce, newPainting, paintingOf } from './task.ts';
import { desks } from './vendors.ts';

/** The image handler for a URL. */
export function pictureDeskAt(url: string): PictureDesk | undefined {
  const [path = ''] = url.split('?');
  return desks.find(({ at }) => at.test(path));
}

/** An image request to a vendor with tasks or binary responses; false for any other request. */
export async function pictures(
  incoming: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  once: Once,
): Promise<boolean> {
  const [path = '', query = ''] = (incoming.url ?? '').split('?');
  const desk = pictureDeskAt(path);
  if (desk === undefined) return false;
  const { method = '', headers } = incoming;
  const form = readForm(headers, body);
  const raw: Json | undefined = form?.fields ?? (body.length === 0 ? {} : objectIn(body));
  const origin = `http://${headers.host ?? '127.0.0.1'}`;
  const call: DeskCall = {
    method,
    path,
    query: new URLSearchParams(query),
    headers,
    raw: raw ?? {},
    files: new Map(form?.files.map((file) => [file.name, file])),
    origin,
  };
  const refuse = (kind: ProblemKind, message?: string): true => {
    reply(response, desk.refuse(problemAt(call, kind, message)));
    return true;
  };
  const shut = desk.door(call);
  if (shut !== undefined) return refuse(shut);
  if (raw === undefined) return refuse('bad_request', 'the body cannot be read');
  const taken = desk.take(call);
  if (taken === undefined) return refuse('unknown_url');
  if ('wish' in taken) return order(response, call, taken, desk, once);
  if ('told' in taken) return ask(response, call, taken, desk);
  reply(response, taken);
  return true;
}

/** For vendors whose requests name no model, the prompt names the scenario: `a cat [sim-500]`. */
function scenarioIn({ named, prompt }: Wish): string {
  const [, told] = /\[(sim-[^\]]+)\]/.exec(prompt) ?? [];
  return told === undefined ? named : `${withoutScenarios(named)}+${told}`;
}

async function order(
  response: ServerResponse,
  call: DeskCall,
  taken: Order,
  desk: PictureDesk,
  once: Once,
): Promise<true> {
  const named = scenarioIn(taken.wish);
  const wish = { ...taken.wish, named };
  if (await playedBefore(response, desk, call, wish, once)) return true;
  const { task } = scenarioOf(named);
  if ('accepted' in taken) reply(response, taken.accepted(newPainting(wish)));
  else
    reply(response, taken.done(paintings(call, atOnce(wish)), { moderated: task === 'moderated' }));
  return true;
}

/** The images of a task. */
function paintings({ origin }: Pick<DeskCall, 'origin'>, { wish }: SimTask): readonly Painted[] {
  const { prompt, width, height, seconds: n, named } = wish;
  const { lost } = scenarioOf(named);
  const url = lost === 'gone' ? goneAddress(origin) : pictureAddress(origin, prompt, width, height);
  const base64 = (): string =>
    (lost === undefined
      ? pictureOf(prompt, width, height)
      : Buffer.from('<html>lost</html>')
    ).toString('base64');
  return Array.from({ length: n }, () => ({ url, base64, width, height }));
}

function ask(
  response: ServerResponse,
  call: DeskCall,
  { id, told, unknown }: Question,
  desk: PictureDesk,
): true {
  tell(response, desk, call, paintingOf(id), unknown, (task) => told(task, paintings(call, task)));
  return true;
}
