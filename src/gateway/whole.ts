import { assert } from '../base/assert.ts';
import { costOf } from '../catalog/price.ts';
import type { Answer, Call, PictureAdapter, PictureMisfit } from '../providers/adapter.ts';
import { type AttemptResult, leftAfterSending } from './attempt.ts';
import { hasTokenInput, withTextInput } from './decoded-tokens.ts';
import type { Exchange } from './exchange.ts';
import type { Lane } from './lanes.ts';
import { PatientAttempt } from './later.ts';
import { illustrated } from './pictures.ts';

/** Parts of one request that are with the vendor at the same time, at most. */
const partsAtOnce = 8;

/**
 * One attempt on one channel at what is answered as a whole: in one call, or in as many as the
 * vendor needs. The first part that fails ends them all, where it is worth nothing without the
 * others.
 */
export async function attemptWhole(
  exchange: Exchange,
  adapter: PictureAdapter,
  asked: Call,
  lane: Lane,
): Promise<AttemptResult> {
  const call =
    adapter.textOnly === true && hasTokenInput(asked.body) ? await withTextInput(asked) : asked;
  if ('kind' in call) return call;
  if (exchange.left) return { kind: 'left' };
  const misfit = adapter.misfit?.(call);
  if (misfit !== undefined) return notMade(misfit);
  const parts = adapter.parts?.(call);
  const calls = parts?.calls ?? [call];
  const waiting = calls.entries();
  const running = new Set<PatientAttempt>();
  const answers: Answer[] = [];
  let ended: AttemptResult | undefined;
  let sent = false;
  const finish = (result: AttemptResult): void => {
    ended ??= result;
    for (const attempt of running) attempt.finish(result);
  };
  const ask = async (): Promise<void> => {
    for (const [i, part] of waiting) {
      if (ended !== undefined) return;
      const attempt = new PatientAttempt(adapter, part, exchange.parts, lane);
      running.add(attempt);
      const result = await attempt.run();
      running.delete(attempt);
      if (result.kind === 'left' && result.sent === true) sent = true;
      if (result.kind === 'answer') answers[i] = result.answer;
      else if (parts?.alone === true && failsAlone(result)) ended ??= result;
      else finish(result);
    }
  };
  exchange.attempt = { finish };
  try {
    await Promise.all(Array.from({ length: Math.min(partsAtOnce, calls.length) }, ask));
  } catch (error) {
    finish({ kind: 'left' });
    throw error;
  } finally {
    exchange.attempt = undefined;
  }
  const had = answers.filter((answer) => answer !== undefined);
  const [first] = had;
  if (ended !== undefined && (first === undefined || !failsAlone(ended)))
    return ended.kind === 'left' && sent ? leftAfterSending : ended;
  assert(first !== undefined, 'a call has an answer or a fault');
  const answer = parts === undefined ? first : parts.join(had);
  if (answer.pictures !== undefined) return illustrated(exchange, answer, answer.pictures, lane);
  return { kind: 'answer', answer: countedInPrice(exchange, answer) };
}

/** The parts that are with the vendor may still end well. */
const failsAlone = ({ kind }: AttemptResult): boolean => kind === 'fault';

/** Nobody was asked: another channel may make it. */
const notMade = ({ param, why }: PictureMisfit): AttemptResult => ({
  kind: 'fault',
  stage: 'connecting',
  fault: { kind: 'bad_request', message: why, param },
});

/**
 * A vendor that tells only what the price does not name (searches, where tokens are sold) has told
 * nothing: its answer would be free.
 */
function countedInPrice({ admitted }: Exchange, answer: Answer): Answer {
  const { quantities } = answer;
  if (quantities === undefined || costOf(admitted.tariff, quantities).lines.length > 0)
    return answer;
  return { ...answer, quantities: undefined };
}
