import { faultText } from './output.ts';
import { program } from './program.ts';

try {
  await program.parseAsync();
} catch (error) {
  console.error(`tollgate: ${faultText(error)}`);
  // A gateway that failed halfway still has threads and timers, which would keep the process.
  process.exit(1);
}
