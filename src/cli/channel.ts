import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '../base/env.ts';
import { byCommand } from '../accounts/audit.ts';
import { systemClock } from '../base/clock.ts';
import { toPlainText } from '../base/plain-text.ts';
import type { ChannelView } from '../console/contract.ts';
import {
  channelToTest,
  recordTest,
  testChannel,
  testPrompt,
} from '../console/operator/channel-test.ts';
import { channelView } from '../console/operator/channel-view.ts';
import { channelReadings } from '../console/operator/channels.ts';
import { type ProbeCapability, probeCapabilities } from '../gateway/channels/probe.ts';
import { vendors } from '../providers/index.ts';
import type { Database } from '../storage/database.ts';
import { loadMasterKey, openSealer } from '../storage/seal.ts';
import { Failure, grouped, print, type SharedOptions } from './command-io.ts';
import { withDatabase } from './installation.ts';
import { paint, paintMoney, table } from './terminal.ts';

/** Channels as the console's list of channels shows them, without their keys. */
export async function channelViews(
  database: Database,
): Promise<readonly Omit<ChannelView, 'keys'>[]> {
  const seen = await channelReadings({ database, clock: systemClock, vendors }, new Map());
  return seen.catalog.channels.map((channel) => {
    const { keys: _, ...view } = channelView(channel, seen);
    return view;
  });
}

export function channelTable(
  channels: Awaited<ReturnType<typeof channelViews>>,
): readonly string[] {
  return table(
    [
      'channel',
      'vendor',
      'state',
      'why',
      'running',
      'attempts',
      'errors',
      'ms',
      'models',
      'groups',
    ],
    channels.map(({ last_hour: hour, ...channel }) => [
      channel.name,
      channel.vendor,
      channel.state,
      channel.why?.code ?? '',
      String(channel.running),
      grouped(hour.requests),
      hour.error_share === null ? '' : `${(hour.error_share * 100).toFixed(1)} %`,
      hour.first_byte_median_ms === null ? '' : String(hour.first_byte_median_ms),
      String(channel.models.length),
      channel.groups.join(','),
    ]),
  );
}

export async function listChannelsCommand(options: SharedOptions, env: Env): Promise<void> {
  await withDatabase(options, env, async (database) => {
    const channels = await channelViews(database);
    print(options, channels, [...channelTable(channels), hourNote]);
  });
}

/** The period of the table's figures. */
export const hourNote = paint('dim', 'attempts, errors and ms (median first byte): the last hour');

interface TestOptions extends SharedOptions {
  readonly model?: string;
  readonly prompt?: string;
}

/** Sends one small request to a channel's vendor; no user pays for it. */
export async function testChannelCommand(
  name: string,
  options: TestOptions,
  env: Env,
): Promise<void> {
  await withDatabase(options, env, async (database, { dataFolder }) => {
    const view = (await channelViews(database)).find((channel) => channel.name === name);
    if (view === undefined)
      throw new Failure(`there is no channel ${name}; 'channel list' shows all`);
    if (!env['TOLLGATE_MASTER_KEY'] && !existsSync(join(dataFolder, 'master.key')))
      throw new Failure(
        `the master key opens the channel's key: name its folder with --data, or set TOLLGATE_MASTER_KEY`,
      );
    const sealer = openSealer(await loadMasterKey(dataFolder, env));
    const channel = await channelToTest({ database, sealer }, name);
    if (channel === undefined) throw new Failure(`there is no channel ${name} any more`);
    const order = { channel, ...wanted(view, options), prompt: options.prompt ?? testPrompt };
    await recordTest(database, systemClock.now(), byCommand, order);
    const rooms = { database, clock: systemClock, vendors };
    const stages: { stage: string; ms: number }[] = [];
    const onStage = (stage: string, ms: number) => {
      stages.push({ stage, ms });
    };
    const done = await testChannel(rooms, order, onStage, new AbortController().signal);
    const { model, capability } = order;
    print(options, { channel: name, model, capability, stages, ...done }, [
      `${paint('bold', name)}, ${capability} with ${model}: ${done.ok ? paint('green', 'ok') : paint('red', 'failed')}${done.status === null ? '' : ` (${done.status})`}`,
      ...stages.map(({ stage, ms }) => `  ${stage.replace('_', ' ').padEnd(11)} ${ms} ms`),
      ...[done.answer, done.said].flatMap((text) =>
        text === null ? [] : [`  ${toPlainText(text.trim())}`],
      ),
      ...(done.estimated_cost === null ? [] : [`  cost ${paintMoney(done.estimated_cost)} yuan`]),
    ]);
    if (!done.ok) process.exitCode = 1;
  });
}

/** The model that is named, or the first that can be tested. */
function wanted(
  { name, models }: Pick<ChannelView, 'name' | 'models'>,
  { model: named }: TestOptions,
): { readonly model: string; readonly capability: ProbeCapability } {
  if (named !== undefined && !models.some(({ id }) => id === named))
    throw new Failure(`${name} does not sell ${named}`);
  for (const { id, capabilities } of models) {
    const capability = probeCapabilities.find((one) => capabilities.includes(one));
    if (capability !== undefined && (named === undefined || named === id))
      return { model: id, capability };
  }
  throw new Failure(
    `${named ?? `no model of ${name}`} can be tested: a test is for ${probeCapabilities.join(', ')}`,
  );
}
