import { faultText } from './command-io.ts';
import { program } from './program.ts';

// An empty variable is an absent one: compose files cannot leave one out.
for (const [name, value] of Object.entries(process.env)) if (value === '') delete process.env[name];

try {
  await program.parseAsync();
} catch (error) {
  console.error(`tollgate: ${faultText(error)}`);
  // A gateway that failed halfway still has threads and timers, which would keep the process alive.
  process.exit(1);
}
