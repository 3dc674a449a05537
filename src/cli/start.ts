import { existsSync } from 'node:fs';
import type { ServeOptions } from './gateway-options.ts';
import type { Env } from './installation.ts';
import { noVendorText, usualFile } from './serve-lines.ts';
import { serve, configurationOf } from './serve.ts';

/** `start`: serves what is configured, or the demo when nothing is. */
export async function startCommand(options: ServeOptions, env: Env): Promise<void> {
  if (
    options.config === undefined &&
    (await configurationOf(undefined, env, options.port)).channels.length === 0
  ) {
    if (existsSync(usualFile)) console.error(`tollgate: ${noVendorText()}`);
    await (await import('./demo.ts')).demo(options, env);
  } else await serve(options, env);
}
