import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Complaint, Problem, ProblemKind, Reply } from '../dialect.ts';
import { blankProblem } from '../own-format.ts';
import { reply } from '../play.ts';
import { type Once, scenarioOf, withoutScenarios } from '../scenario.ts';
import { closed, sendPage, sendStream, sendWhole } from '../send.ts';
import type { StreamEvent } from '../write.ts';

/** The vendor's refusals. */
export interface Refuser {
  readonly refuse: (problem: Problem) => Reply;
}

/** A response: JSON or text in one piece, or pieces of events or audio. */
export type SoundReply =
  | { readonly whole: string; readonly type: string }
  | { readonly pieces: readonly (string | Buffer)[]; readonly type: string; readonly end?: string };

export interface SoundScenario {
  /** The response has no usage. */
  readonly silent: boolean;
  readonly empty: boolean;
}

const blank = blankProblem('');

/**
 * Plays one valid audio request: first the scenario of its model, then the response. `seen` tells
 * one request from another.
 */
export async function play(
  response: ServerResponse,
  once: Once,
  refuser: Refuser,
  named: string,
  seen: string,
  show: (scenario: SoundScenario) => SoundReply,
): Promise<void> {
  const scenario = scenarioOf(named);
  const model = withoutScenarios(named);
  if (scenario.firstByteMs > 0)
    await wait(scenario.firstByteMs, undefined, { signal: closed(response) });
  if (scenario.hang) return;
  if (scenario.page !== undefined) return sendPage(response, scenario.page);
  const problem = (kind: ProblemKind): Problem => ({
    ...blank,
    kind,
    model,
    retryAfterS: scenario.retryAfterS,
  });
  if (scenario.refuse !== undefined && (!scenario.once || once.first(`${model} ${seen}`)))
    return reply(response, refuser.refuse(problem(scenario.refuse)), scenario.retryAfterS);
  const shown = show({ silent: !scenario.usageReported, empty: scenario.empty });
  const { pieceMs, trouble } = scenario;
  const error = (): string => JSON.stringify(refuser.refuse(problem('server')).body);
  if ('whole' in shown)
    return sendWhole(
      response,
      shown.whole,
      { pieceMs, trouble, error },
      { 'content-type': shown.type },
    );
  const events: StreamEvent[] = shown.pieces.map((text, i) => ({
    text,
    piece: true,
    ends: i === shown.pieces.length - 1,
  }));
  const isText = shown.type.startsWith('text/');
  const writer = {
    streamType: shown.type,
    end: shown.end ?? '',
    broken: isText ? 'data: {"type":\n\n' : Buffer.alloc(0),
  };
  const inStream = (): string => (isText ? `data: ${error()}\n\n` : '');
  return sendStream(
    response,
    { ...writer, events: () => [], whole: () => ({}), error: inStream },
    events,
    {
      pieceMs,
      trouble,
      error: inStream,
    },
  );
}

export function complain(
  response: ServerResponse,
  refuser: Refuser,
  complaint: Complaint,
  model = '',
): void {
  reply(
    response,
    refuser.refuse({ ...blank, kind: complaint.kind ?? 'bad_request', model, complaint }),
  );
}

const pieceBytes = 4_096;

/** Audio in small pieces, as a vendor sends it. */
export function inPieces(bytes: Buffer, size = pieceBytes): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return pieces;
}
