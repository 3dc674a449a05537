import type { ServeOptions } from './gateway-options.ts';
import type { Env } from './installation.ts';
import { unreadFileLines } from './serve-lines.ts';
import { serve, configurationOf } from './serve.ts';

/** `start`: serves what is configured, or the demo when nothing is. */
export async function startCommand(options: ServeOptions, env: Env): Promise<void> {
  for (const line of unreadFileLines(options, env)) console.error(line);
  if (
    options.config === undefined &&
    (await configurationOf(undefined, env, options.port)).channels.length === 0
  )
    await (await import('./demo.ts')).demo(options, env);
  else await serve(options, env);
}
