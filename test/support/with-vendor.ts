import { migrations } from '../../src/app/schema.ts';
import { sqliteUrl } from '../databases.ts';
import { oneModel, type Running, type RunningOptions, startRunning } from './running.ts';
import { type ScriptedVendor, startVendor } from './scripted-vendor.ts';

/** A vendor, and a gateway that sells its models, on an SQLite database of its own. */
export async function startWithVendor(
  configuration: (vendorUrl: string) => string = oneModel,
  options: Omit<RunningOptions, 'databaseUrl' | 'configuration'> = {},
): Promise<{ readonly vendor: ScriptedVendor; readonly running: Running }> {
  const vendor = await startVendor();
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    configuration: configuration(vendor.url),
    ...options,
  });
  return { vendor, running };
}
