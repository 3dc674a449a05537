import * as z from 'zod';
import { writeAudit } from '../../accounts/audit.ts';
import { loadCatalog } from '../../catalog/catalog-store.ts';
import { storedCatalog } from '../../catalog/stored-catalog.ts';
import { probe, probeCapabilities } from '../../gateway/channels/probe.ts';
import { type Measure, measures, type Quantities } from '../../base/quantities.ts';
import type { ChannelTestEvents } from '../contract.ts';
import { type OperatorContext, byOperator } from './context.ts';
import { costOfQuantities } from './vendor-costs.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, defineRoute } from '../route.ts';
import { yuan } from '../format.ts';

const promptCharsMax = 2_000;
const input = z.strictObject({
  capability: z.enum(probeCapabilities, 'not_testable'),
  model: z.string(),
  prompt: z
    .string()
    .min(1, 'empty')
    .max(promptCharsMax, 'too_long')
    .default('Reply with the word OK.'),
});

/**
 * Sends one small request to a channel's vendor and reports it stage by stage, with the vendor's
 * own messages; no user pays for it.
 */
export function channelTestRoutes({
  database,
  clock,
  sealer,
  vendors,
}: OperatorContext): readonly ConsoleRoute[] {
  return [
    defineRoute({
      method: 'POST',
      path: 'operator/channels/:name/test',
      role: 'operator',
      input,
      perMinute: 30,
      async handle(visit) {
        const { params, reply, at } = visit;
        const { capability, model, prompt } = visit.input;
        // Reads the stored channel: an operator tests a new one before this process has loaded it.
        const { channels } = await loadCatalog(database, sealer);
        const channel = channels.find(({ name }) => name === params['name']);
        if (channel === undefined) return throwProblem('not_found');
        if (!channel.models.has(model))
          return throwProblem('invalid', { fields: { model: 'unknown' } });
        const act = {
          ...byOperator(visit),
          action: 'channel.test',
          target: `channel:${channel.name}`,
          after: { capability, model },
        };
        await database.transact(() => writeAudit(at, act));
        const stream = reply.events();
        const stage = (name: ChannelTestEvents['stage']['stage'], ms: number): void =>
          stream.send({
            event: 'stage',
            data: { stage: name, ms } satisfies ChannelTestEvents['stage'],
          });
        const { ok, status, quantities, error, answer } = await probe(
          vendors,
          clock,
          { channel, capability, model, prompt },
          stage,
          stream.signal,
        );
        const recorded = await storedCatalog(database);
        const price = recorded.channels.find(({ name }) => name === channel.name)?.costs.get(model);
        const used = microsOf(quantities);
        const done: ChannelTestEvents['done'] = {
          ok,
          status: status ?? null,
          usage:
            quantities === undefined
              ? null
              : Object.fromEntries(
                  used.map(({ measure, micros }) => [measure, Number(micros) / 1e6]),
                ),
          estimated_cost:
            price === undefined || quantities === undefined
              ? null
              : yuan(costOfQuantities(price, used)),
          said: error ?? null,
          answer: answer ?? null,
        };
        stream.send({ event: 'done', data: done });
        stream.end();
        return undefined;
      },
    }),
  ];
}

/** The measures of an answer that are not zero, in millionths. */
function microsOf(quantities: Quantities | undefined): { measure: Measure; micros: bigint }[] {
  return measures.flatMap((measure) => {
    const amount = quantities?.[measure] ?? 0;
    return amount === 0 ? [] : [{ measure, micros: BigInt(Math.round(amount * 1e6)) }];
  });
}
