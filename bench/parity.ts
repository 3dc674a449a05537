import { targetOf } from './contender.ts';
import type { Figures } from './figures.ts';
import { loop } from './load.ts';
import { ready, type Tollgate } from './tollgate.ts';

const whole = 2000;
const streams = 200;

/**
 * After the load: a fixed number of requests, each with status 200, must make exactly as many usage
 * records and charges. Over the whole run there must be one charge for each record, and at least as
 * many as the 200s that load generators saw.
 */
export async function parity(
  gateway: Tollgate,
  figures: Figures,
): Promise<{ text: string; ok: boolean }> {
  const started = await gateway.start();
  try {
    await ready(`${gateway.base}/readyz`, started.tail);
    const before = await gateway.books();
    const answers = await loop(targetOf(gateway, 'whole'), 50, { requests: whole });
    const streamed = await loop(targetOf(gateway, 'burst'), 20, { requests: streams });
    const after = await gateway.books();
    const answered = answers.requests + streamed.requests;
    const [records, charges] = [after.records - before.records, after.charges - before.charges];
    const proof = gateway.command('check');
    const proved = typeof proof === 'object' && proof !== null && Reflect.get(proof, 'ok') === true;
    const ok =
      proved &&
      answered === whole + streams &&
      records === answered &&
      charges === answered &&
      after.records === after.charges;
    const text = [
      `Parity: ${answered} requests answered 200, ${records} usage records, ${charges} charges.`,
      `Over the whole run ${after.records} records and ${after.charges} charges, for ${figures.answered + answered} answers that were read to their end.`,
      `\`check\`: ${JSON.stringify(proof)}.`,
      ok && after.records >= figures.answered + answered ? 'All agree.' : 'THEY DO NOT AGREE.',
    ].join(' ');
    return { text, ok };
  } finally {
    await started.stop();
  }
}
