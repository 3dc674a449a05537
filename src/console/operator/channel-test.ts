import * as z from 'zod';
import { type AuditedAction, writeAudit } from '../../accounts/audit.ts';
import { loadCatalog } from '../../catalog/catalog-store.ts';
import type { Channel } from '../../catalog/snapshot.ts';
import { storedCatalog } from '../../catalog/stored-catalog.ts';
import {
  type Probe,
  type ProbeStage,
  probe,
  probeCapabilities,
} from '../../gateway/channels/probe.ts';
import { type Measure, measures, type Quantities } from '../../base/quantities.ts';
import { reason } from '../../base/reason.ts';
import type { Database } from '../../storage/database.ts';
import type { ChannelTestEvents } from '../contract.ts';
import { type OperatorContext, byOperator } from './context.ts';
import { costOfQuantities } from './vendor-costs.ts';
import { throwProblem, throwWrong } from '../problem.ts';
import { type ConsoleRoute, defineRoute, type SignedInRequest } from '../route.ts';
import { yuan } from '../format.ts';

type Replies = SignedInRequest<unknown>['reply'];

const promptCharsMax = 2_000;
/** Enough to test every channel of a large installation at once. */
const testsPerMinute = 300;
export const testPrompt = 'Reply with the word OK.';
const input = z.strictObject({
  capability: z.enum(probeCapabilities, 'not_testable'),
  model: z.string(),
  prompt: z.string().min(1, 'empty').max(promptCharsMax, 'too_long').default(testPrompt),
});

/**
 * Sends one small request to a channel's vendor and reports it stage by stage, with the vendor's
 * own messages; no user pays for it.
 */
export function channelTestRoutes(context: OperatorContext): readonly ConsoleRoute[] {
  return [
    defineRoute({
      method: 'POST',
      path: 'operator/channels/:name/test',
      role: 'operator',
      input,
      perMinute: testsPerMinute,
      async handle(request) {
        const { params, reply, at } = request;
        const { model } = request.input;
        const channel = await channelToTest(context, params['name'] ?? '');
        if (channel === undefined) return throwProblem('not_found');
        if (!channel.models.has(model))
          return throwProblem('invalid', { fields: { model: 'unknown' } });
        const target = { ...request.input, channel };
        await recordTest(context.database, at, byOperator(request), target);
        return sendTest(context, target, reply);
      },
    }),
    unsavedTestRoute(context),
  ];
}

const unsavedInput = input.extend({
  vendor: z.string(),
  base_url: z.string().optional(),
  secret: z.string().max(20_000, 'too_long').optional(),
  upstream: z.string().optional(),
});

/** Tests a channel before it is saved. */
function unsavedTestRoute(context: OperatorContext): ConsoleRoute {
  return defineRoute({
    method: 'POST',
    path: 'operator/channel-test',
    role: 'operator',
    input: unsavedInput,
    perMinute: 30,
    async handle(request) {
      const { model, upstream = model, capability, prompt, ...written } = request.input;
      const channel = unsavedChannel(context, written, new Map([[model, upstream]]));
      const target = { channel, capability, model, prompt };
      await recordTest(context.database, request.at, byOperator(request), target);
      return sendTest(context, target, request.reply);
    },
  });
}

/** A channel as its form has it. Throws a problem where its vendor cannot be asked. */
export function unsavedChannel(
  { vendors }: Pick<OperatorContext, 'vendors'>,
  written: {
    readonly vendor: string;
    readonly base_url?: string | undefined;
    readonly secret?: string | undefined;
  },
  models: ReadonlyMap<string, string> = new Map(),
): Channel {
  const vendor = vendors.get(written.vendor);
  if (vendor === undefined) return throwProblem('invalid', { fields: { vendor: 'unknown' } });
  const baseUrl = written.base_url?.trim() || vendor.baseUrl;
  if (baseUrl === undefined)
    return throwWrong([{ path: 'base_url', ...reason('address_needed', { vendor: vendor.id }) }]);
  if (!/^https?:$/.test(protocolOf(baseUrl)))
    return throwWrong([
      { path: 'base_url', ...reason('not_a_base_address', { written: baseUrl }) },
    ]);
  return {
    name: 'unsaved',
    vendor: vendor.id,
    baseUrl,
    secret: written.secret || undefined,
    groups: [],
    priority: 0,
    weight: 1,
    models,
    revision: 0,
  };
}

const protocolOf = (address: string): string =>
  URL.canParse(address) ? new URL(address).protocol : '';

async function sendTest(
  context: OperatorContext,
  target: Probe,
  reply: Replies,
): Promise<undefined> {
  const stream = reply.events();
  const stage = (name: ChannelTestEvents['stage']['stage'], ms: number): void =>
    stream.send({
      event: 'stage',
      data: { stage: name, ms } satisfies ChannelTestEvents['stage'],
    });
  const done = await testChannel(context, target, stage, stream.signal);
  stream.send({ event: 'done', data: done });
  stream.end();
}

/**
 * The channel as it is stored: an operator tests a new one before any process has loaded it.
 * Undefined: there is none.
 */
export async function channelToTest(
  { database, sealer }: Pick<OperatorContext, 'database' | 'sealer'>,
  wanted: string,
): Promise<Channel | undefined> {
  const { channels } = await loadCatalog(database, sealer);
  return channels.find(({ name }) => name === wanted);
}

/** Writes a test into the audit trail. */
export async function recordTest(
  database: Database,
  at: number,
  by: Pick<AuditedAction, 'actorKind' | 'actor' | 'ip'>,
  { channel, capability, model }: Probe,
): Promise<void> {
  const target = `channel:${channel.name}`;
  const act = { ...by, action: 'channel.test', target, after: { capability, model } };
  await database.transact(() => writeAudit(at, act));
}

/** Probes a channel's vendor, and works out what the answer cost. */
export async function testChannel(
  { database, clock, vendors }: Pick<OperatorContext, 'database' | 'clock' | 'vendors'>,
  target: Probe,
  onStage: (stage: ProbeStage, ms: number) => void,
  signal: AbortSignal,
): Promise<ChannelTestEvents['done']> {
  const result = await probe(vendors, clock, target, onStage, signal);
  const { ok, status, quantities, error, answer } = result;
  const { channels } = await storedCatalog(database);
  const price = channels.find(({ name }) => name === target.channel.name)?.costs.get(target.model);
  const used = microsOf(quantities);
  return {
    ok,
    status: status ?? null,
    usage:
      quantities === undefined
        ? null
        : Object.fromEntries(used.map(({ measure, micros }) => [measure, Number(micros) / 1e6])),
    estimated_cost:
      price === undefined || quantities === undefined ? null : yuan(costOfQuantities(price, used)),
    said: error ?? null,
    answer: answer ?? null,
  };
}

/** The measures of an answer that are not zero, in millionths. */
function microsOf(quantities: Quantities | undefined): { measure: Measure; micros: bigint }[] {
  return measures.flatMap((measure) => {
    const amount = quantities?.[measure] ?? 0;
    return amount === 0 ? [] : [{ measure, micros: BigInt(Math.round(amount * 1e6)) }];
  });
}
