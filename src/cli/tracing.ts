import about from '../../package.json' with { type: 'json' };
import { systemClock } from '../base/clock.ts';
import type { Traces } from '../telemetry/traces.ts';
import type { Env } from './installation.ts';
import { Failure } from './output.ts';

/** A collector that is away is told of this often at most. */
const everyMs = 60_000;

/**
 * Traces, where an endpoint for them is named. What else the `OTEL_…` variables say is the SDK's to
 * read, which is not loaded otherwise.
 */
export async function tracesOf(env: Env): Promise<Traces | undefined> {
  const endpoint = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  if (!endpoint || env['OTEL_SDK_DISABLED'] === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none')
    return undefined;
  const protocol =
    env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] ||
    env['OTEL_EXPORTER_OTLP_PROTOCOL'] ||
    'http/protobuf';
  if (protocol !== 'http/protobuf')
    throw new Failure(
      `traces are sent as http/protobuf; OTEL_EXPORTER_OTLP_PROTOCOL asks for '${protocol}'`,
    );
  const { openSpans } = await import('../telemetry/spans.ts');
  let toldAt = Number.NEGATIVE_INFINITY;
  const trouble = (error: unknown): void => {
    const now = systemClock.monotonicMs();
    if (now - toldAt < everyMs) return;
    toldAt = now;
    console.error(
      `tollgate: traces cannot be sent to ${endpoint}: ${error instanceof Error ? error.message : String(error)}`,
    );
  };
  return openSpans({ version: about.version, clock: systemClock, trouble });
}
