import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { isWrongKey } from './api-key.ts';
import type { Problem, ProblemKind, Reply } from './dialect.ts';
import type { Json } from './json.ts';
import { blankProblem } from './own-format.ts';
import { reply } from './play.ts';
import { type Once, scenarioOf, withoutScenarios } from './scenario.ts';
import { closed, sendPage } from './send.ts';
import type { SimTask } from './video/task.ts';

/** A request to a vendor that runs tasks. */
export interface Call {
  readonly method: string;
  /** The whole path, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** The members of the body, `{}` without one; the fields of a form. */
  readonly raw: Json;
}

/**
 * The handler of one vendor for one kind of task, from the vendor's documents. `Taken`: the forms
 * of a valid request.
 */
export interface TaskHandler<AnyCall extends Call, Taken> {
  readonly vendor: string;
  /** The paths that it serves. */
  readonly at: RegExp;
  /** Checks the key; returns why it is refused. */
  readonly checkKey: (call: AnyCall) => 'missing_key' | 'wrong_key' | undefined;
  readonly refuse: (problem: Problem) => Reply;
  /** Undefined: the vendor has no such address. */
  readonly take: (call: AnyCall) => Reply | Taken | undefined;
}

type Refusing = Pick<TaskHandler<never, never>, 'refuse'>;

export const problemAt = (
  call: Call,
  kind: ProblemKind,
  message?: string,
  model = '',
): Problem => ({
  ...blankProblem(call.path),
  kind,
  model,
  complaint: message === undefined ? undefined : { message },
});

/** Checks a key in a header of its own, or behind a scheme such as `Bearer `. */
export const keyIn =
  (header: string, scheme = '') =>
  ({ headers }: Call): 'missing_key' | 'wrong_key' | undefined => {
    const value = String(headers[header] ?? '');
    if (!value.startsWith(scheme) || value.length <= scheme.length) return 'missing_key';
    return isWrongKey(value) ? 'wrong_key' : undefined;
  };

/** `1280x720`, `1280*720`, `1280:720`. */
export function pixelsOf(size = '1024x1024'): { readonly width: number; readonly height: number } {
  const [width = 1_024, height = 1_024] = size.split(/[x*:]/).map(Number);
  return { width, height };
}

/**
 * Plays the part of a scenario that comes before the vendor accepts a request; true when that was
 * the response.
 */
export async function playedBefore(
  response: ServerResponse,
  handler: Refusing,
  call: Call,
  { named, prompt }: { readonly named: string; readonly prompt: string },
  once: Once,
): Promise<boolean> {
  const {
    firstByteMs,
    hang,
    page,
    refuse,
    retryAfterS,
    once: onlyOnce,
    trouble,
  } = scenarioOf(named);
  if (firstByteMs > 0) await wait(firstByteMs, undefined, { signal: closed(response) });
  if (hang) return true;
  if (page !== undefined) sendPage(response, page);
  else if (refuse !== undefined && (!onlyOnce || once.first(`${named} ${prompt}`)))
    reply(
      response,
      handler.refuse(problemAt(call, refuse, undefined, withoutScenarios(named))),
      retryAfterS,
    );
  else if (trouble?.kind === 'reset') response.socket?.resetAndDestroy();
  else return false;
  return true;
}

/**
 * Sends the state of a task, or plays the scenario's fault instead. `unknown`: the response when
 * there is no such task.
 */
export function sendTask(
  response: ServerResponse,
  handler: Refusing,
  call: Call,
  task: SimTask | undefined,
  unknown: Reply,
  report: (task: SimTask) => Reply,
): void {
  if (task === undefined || task.poll === '404') reply(response, unknown);
  else if (task.poll === '401') reply(response, handler.refuse(problemAt(call, 'wrong_key')));
  else if (task.poll === 'html') sendPage(response, task.percent % 2 === 0 ? 200 : 502);
  else if (task.poll !== 'hang') reply(response, report(task));
}
