import type { IncomingHttpHeaders } from 'node:http';
import type { Problem, ProblemKind, Reply } from '../dialect.ts';
import type { Json } from '../json.ts';
import { blankProblem } from '../own-format.ts';
import type { FilmWish, SimTask } from './task.ts';

export interface DeskCall {
  readonly method: string;
  /** The whole path, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** The body, `{}` where there is none. */
  readonly raw: Json;
  readonly bytes: Buffer;
}

/** A submission that is in order. */
export interface Submission {
  readonly wish: FilmWish;
  readonly accepted: (id: string) => Reply;
}

/** A question for a task. */
export interface Question {
  readonly id: string;
  /** `filmUrl`: where the video is, for everybody. */
  readonly told: (task: SimTask, filmUrl: string) => Reply;
  /** There is no such task. */
  readonly unknown: Reply;
}

/** A video itself. */
export interface Screening {
  readonly film: string;
}

/** One vendor's videos, as its own documents describe them. */
export interface VideoDesk {
  readonly vendor: string;
  /** The paths that are its own. */
  readonly at: RegExp;
  /** Why the door stays shut. */
  readonly door: (call: DeskCall) => 'missing_key' | 'wrong_key' | undefined;
  readonly refuse: (problem: Problem) => Reply;
  /** Undefined: it has no such address. */
  readonly take: (call: DeskCall) => Reply | Submission | Question | Screening | undefined;
}

export const problemAt = (call: DeskCall, kind: ProblemKind, message?: string, model = ''): Problem => ({
  ...blankProblem(call.path),
  kind,
  model,
  complaint: message === undefined ? undefined : { message },
});

/** `Authorization: Bearer`, or another word. */
export const doorOf =
  (scheme: 'Bearer' | 'Token'): VideoDesk['door'] =>
  ({ headers }) => {
    const [word, key] = (headers.authorization ?? '').split(' ');
    if (word !== scheme || key === undefined || key === '') return 'missing_key';
    return /wrong|invalid|expired/i.test(key) ? 'wrong_key' : undefined;
  };

/** Seconds since 1970. */
export const secondsOf = ({ createdMs }: SimTask): number => Math.floor(createdMs / 1_000);

const sides: Readonly<Record<string, number>> = { '2k': 1440, '4k': 2160 };

/** A picture of that shape and resolution, in even pixels. */
export function pixels(resolution: string, ratio = '16:9'): { readonly width: number; readonly height: number } {
  const name = resolution.toLowerCase();
  const short = sides[name] ?? (Number.parseInt(name, 10) || 720);
  const [w = 16, h = 9] = ratio.split(':').map(Number);
  const even = (n: number): number => Math.round(n / 2) * 2;
  return w >= h ? { width: even((short * w) / h), height: short } : { width: short, height: even((short * h) / w) };
}

/** `1280x720`, `1280*720`, `1280:720`. */
export function sizeOf(text: string): { readonly width: number; readonly height: number } {
  const [width = 1280, height = 720] = text.split(/[x*:]/).map(Number);
  return { width, height };
}
