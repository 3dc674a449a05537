#!/usr/bin/env node
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const entry = new URL('../dist/tollgate.js', import.meta.url);

if (major < 20 || (major === 20 && minor < 19))
  fail(`Tollgate needs Node 20.19 or newer; this is ${process.versions.node}.`);
if (!existsSync(entry))
  fail('dist/ is missing: run `npm run build` first (`npm start` does it by itself).');
// Node 22 and later keep the compiled code for the next start, where dist/ can be written to. Node's
// usual place is in /tmp, where another user could put code of their own.
module.enableCompileCache?.(fileURLToPath(new URL('../dist/compiled', import.meta.url)));
await import(entry.href);

function fail(message) {
  process.stderr.write(`tollgate: ${message}\n`);
  process.exit(1);
}
