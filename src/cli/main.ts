import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { faultText } from './command-io.ts';
import { program } from './program.ts';
import { forStream, paint } from './terminal.ts';

// An empty variable is an absent one: compose files cannot leave one out.
for (const [name, value] of Object.entries(process.env)) if (value === '') delete process.env[name];

// A host may have several addresses. Node gives up each but the last after 250 ms, which a far
// vendor or one lost packet (sent again after a second) takes longer than. Two of these fit into
// the five seconds that a connection may take.
setDefaultAutoSelectFamilyAttemptTimeout(2_000);

program.parseAsync().catch((error: unknown) => {
  const text = `${paint('red', 'tollgate:')} ${faultText(error)}`;
  console.error(forStream(text, process.stderr));
  // A gateway that failed halfway still has threads and timers, which would keep the process alive.
  process.exit(1);
});
