import { faultText } from './command-io.ts';
import { program } from './program.ts';
import { forStream, paint } from './terminal.ts';

// An empty variable is an absent one: compose files cannot leave one out.
for (const [name, value] of Object.entries(process.env)) if (value === '') delete process.env[name];

program.parseAsync().catch((error: unknown) => {
  const text = `${paint('red', 'tollgate:')} ${faultText(error)}`;
  console.error(forStream(text, process.stderr, process.env));
  // A gateway that failed halfway still has threads and timers, which would keep the process alive.
  process.exit(1);
});
