import type { IncomingMessage, ServerResponse } from 'node:http';
import { playedBefore, problemAt, tell } from '../desk.ts';
import type { Problem } from '../dialect.ts';
import { objectIn, text } from '../json.ts';
import { film } from '../media/mp4.ts';
import { reply } from '../play.ts';
import type { Once } from '../scenario.ts';
import type { DeskCall, Question, Submission, VideoDesk } from './desk.ts';
import { desks } from './vendors.ts';
import { newTask, taskOf } from './task.ts';

const films = '/films/';

/** The video handler for a URL. */
export function deskAt(url: string): VideoDesk | undefined {
  const [path = ''] = url.split('?');
  return desks.find(({ at }) => at.test(path));
}

/** Answers a request for videos; false for any other request. */
export async function videos(
  incoming: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  once: Once,
): Promise<boolean> {
  const [path = '', query = ''] = (incoming.url ?? '').split('?');
  if (path.startsWith(films))
    return screen(response, path.slice(films.length).replace(/\.mp4$/, ''));
  const desk = deskAt(path);
  if (desk === undefined) return false;
  const { method = '', headers } = incoming;
  const raw = body.length === 0 ? {} : objectIn(body);
  const call: DeskCall = {
    method,
    path,
    query: new URLSearchParams(query),
    headers,
    raw: raw ?? {},
    bytes: body,
  };
  const refuse = (problem: Problem): true => {
    reply(response, desk.refuse(problem));
    return true;
  };
  const shut = desk.door(call);
  if (shut !== undefined) return refuse(problemAt(call, shut));
  if (raw === undefined) return refuse(problemAt(call, 'bad_request', 'the body is no JSON'));
  const taken = desk.take(call);
  if (taken === undefined) return refuse(problemAt(call, 'unknown_url'));
  if ('film' in taken) return screen(response, taken.film);
  if ('wish' in taken) return submit(response, call, taken, desk, once);
  if ('told' in taken)
    return ask(response, call, taken, desk, `http://${text(headers.host) ?? '127.0.0.1'}${films}`);
  reply(response, taken);
  return true;
}

async function submit(
  response: ServerResponse,
  call: DeskCall,
  { wish, accepted }: Submission,
  desk: VideoDesk,
  once: Once,
): Promise<true> {
  if (!(await playedBefore(response, desk, call, wish, once)))
    reply(response, accepted(newTask(wish)));
  return true;
}

function ask(
  response: ServerResponse,
  call: DeskCall,
  { id, told, unknown }: Question,
  desk: VideoDesk,
  filmsUrl: string,
): true {
  tell(response, desk, call, taskOf(id), unknown, (task) =>
    told(task, `${filmsUrl}${task.id}.mp4`),
  );
  return true;
}

function screen(response: ServerResponse, id: string): true {
  const task = taskOf(id);
  const bytes = task?.state === 'done' ? film(task.wish) : undefined;
  if (bytes === undefined) response.writeHead(404).end();
  else
    response
      .writeHead(200, { 'content-type': 'video/mp4', 'content-length': bytes.length })
      .end(bytes);
  return true;
}
