import type { IncomingMessage, ServerResponse } from 'node:http';
import { playedBefore, problemAt, sendTask } from '../task-handler.ts';
import type { Problem } from '../dialect.ts';
import { objectIn, text } from '../json.ts';
import { mp4Of } from '../media/mp4.ts';
import { reply } from '../play.ts';
import type { Once } from '../scenario.ts';
import type { VideoCall, Poll, Submission, VideoHandler } from './handler.ts';
import { handlers } from './vendors.ts';
import { newTask, taskOf } from './task.ts';

const videosPath = '/films/';

/** The video handler for a URL. */
export function handlerAt(url: string): VideoHandler | undefined {
  const [path = ''] = url.split('?');
  return handlers.find(({ at }) => at.test(path));
}

/** Answers a request for videos; false for any other request. */
export async function videos(
  incoming: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  once: Once,
): Promise<boolean> {
  const [path = '', query = ''] = (incoming.url ?? '').split('?');
  if (path.startsWith(videosPath))
    return screen(response, path.slice(videosPath.length).replace(/\.mp4$/, ''));
  const handler = handlerAt(path);
  if (handler === undefined) return false;
  const { method = '', headers } = incoming;
  const raw = body.length === 0 ? {} : objectIn(body);
  const call: VideoCall = {
    method,
    path,
    query: new URLSearchParams(query),
    headers,
    raw: raw ?? {},
    bytes: body,
  };
  const refuse = (problem: Problem): true => {
    reply(response, handler.refuse(problem));
    return true;
  };
  const shut = handler.checkKey(call);
  if (shut !== undefined) return refuse(problemAt(call, shut));
  if (raw === undefined) return refuse(problemAt(call, 'bad_request', 'the body is no JSON'));
  const taken = handler.take(call);
  if (taken === undefined) return refuse(problemAt(call, 'unknown_url'));
  if ('taskId' in taken) return screen(response, taken.taskId);
  if ('request' in taken) return submit(response, call, taken, handler, once);
  if ('report' in taken)
    return ask(
      response,
      call,
      taken,
      handler,
      `http://${text(headers.host) ?? '127.0.0.1'}${videosPath}`,
    );
  reply(response, taken);
  return true;
}

async function submit(
  response: ServerResponse,
  call: VideoCall,
  { request, accepted }: Submission,
  handler: VideoHandler,
  once: Once,
): Promise<true> {
  if (!(await playedBefore(response, handler, call, request, once)))
    reply(response, accepted(newTask(request)));
  return true;
}

function ask(
  response: ServerResponse,
  call: VideoCall,
  { id, report, unknown }: Poll,
  handler: VideoHandler,
  videosUrl: string,
): true {
  sendTask(response, handler, call, taskOf(id), unknown, (task) =>
    report(task, `${videosUrl}${task.id}.mp4`),
  );
  return true;
}

function screen(response: ServerResponse, id: string): true {
  const task = taskOf(id);
  const bytes = task?.state === 'done' ? mp4Of(task.request) : undefined;
  if (bytes === undefined) response.writeHead(404).end();
  else
    response
      .writeHead(200, { 'content-type': 'video/mp4', 'content-length': bytes.length })
      .end(bytes);
  return true;
}
