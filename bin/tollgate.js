#!/usr/bin/env node
import { existsSync } from 'node:fs';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const entry = new URL('../dist/tollgate.js', import.meta.url);

if (major < 20 || (major === 20 && minor < 19))
  fail(`Tollgate needs Node 20.19 or newer; this is ${process.versions.node}.`);
if (!existsSync(entry))
  fail('dist/ is missing: run `npm run build` first (`npm start` does it by itself).');
await import(entry.href);

function fail(message) {
  process.stderr.write(`tollgate: ${message}\n`);
  process.exit(1);
}
