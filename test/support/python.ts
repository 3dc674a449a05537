import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const named = process.env['PYTHON'];

/**
 * The Python of a virtual environment with test/python-packages.txt in it, or the machine's own.
 */
export const python = named ?? 'python3';

/**
 * Whether to run code that imports this package. A Python that the caller names always runs it, so
 * that a missing package shows as a failure.
 */
export const runsPython = async (name: string): Promise<boolean> =>
  named !== undefined || works(`import ${name}`);

/** Whether there is a Python at all, which can look at syntax. */
export const hasPython = (): Promise<boolean> => works('import ast');

const works = (code: string): Promise<boolean> =>
  run(python, ['-c', code]).then(
    () => true,
    () => false,
  );
