// Runs before each file of tests, also in a process that ran other files before.
import { afterEach } from 'vitest';
import { taken } from './support/violations-found.ts';

/** Set to false while writing tables of test/vendor-schemas: then no test fails. */
const fails = true;

afterEach(() => {
  const all = taken();
  if (fails && all.length > 0)
    throw new Error(
      `the vendor would refuse what this test sends it:\n${[...new Set(all)].slice(0, 10).join('\n')}`,
    );
});
