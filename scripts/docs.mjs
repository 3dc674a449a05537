// `npm run docs`: writes the pages that are generated from code. A test compares them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { program } from '../src/cli/program.ts';
import { cliReference } from '../src/cli/reference.ts';
import { root } from './sources.mjs';

writeFileSync(join(root, 'docs', 'reference', 'cli.md'), cliReference(program));
