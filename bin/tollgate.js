#!/usr/bin/env node
// CommonJS: a start without ES modules saves Node the loading of its own code for them.
const {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { setFlagsFromString } = require('node:v8');
const { Script } = require('node:vm');
const { crc32 } = require('node:zlib');

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const entry = join(__dirname, '../dist/tollgate.js');
/** In dist/: in /tmp, Node's own place for it, another user could put code of their own. */
const compiledFolder = join(__dirname, '../dist/compiled');
/** The start of a gateway is over by then, and compiled code that it needed is still in memory. */
const keepAfterMs = 3_000;
/** V8 does not look for damage in compiled code, and would crash: a checksum stands behind it. */
const checksumBytes = 4;
/**
 * Collects the heap after this much growth. By itself V8 lets one of this size grow to two or three
 * times what is in use. A process with 5,000 open streams takes 216 MB at 20 % and 230 MB at 30 %,
 * and a small request 1 % more time (decision 0028). V8 takes compiled code for the same flags
 * alone: they are set first.
 */
const heapGrowthPercent = 20;

/**
 * Threads for files and names, among others. At most half of them look up names at a time: two for
 * addresses of clients (src/media/downloads.ts), which may take long, and two for all else.
 */
const threads = 8;

if (major < 20 || (major === 20 && minor < 19))
  fail(`Tollgate needs Node 20.19 or newer; this is ${process.versions.node}.`);
if (!existsSync(entry))
  fail('dist/ is missing: run `npm run build` first (`npm start` does it by itself).');
// An empty variable is an absent one.
process.env.UV_THREADPOOL_SIZE ||= String(threads);
setFlagsFromString(`--heap-growing-percent=${heapGrowthPercent}`);
// Once streams were open for seconds, V8 would make the objects of all requests in the old
// generation, and collect it five times a second under load (decision 0028).
setFlagsFromString('--no-allocation-site-pretenuring');
run(readFileSync(entry));

function run(source) {
  const fits = `${process.version}-${process.arch}-${crc32(source).toString(16)}.bin`;
  const file = join(compiledFolder, fits);
  const script = new Script(source.latin1Slice(), {
    filename: entry,
    cachedData: kept(file),
  });
  const module = { exports: {} };
  script.runInThisContext()(
    module.exports,
    createRequire(entry),
    module,
    pathToFileURL(entry).href,
  );
  // Other commands end before, and need less of the code.
  const serves = process.argv[2] === 'serve' || process.argv[2] === 'start';
  if (serves && script.cachedDataRejected !== false)
    setTimeout(() => keep(script, file), keepAfterMs).unref();
}

function kept(file) {
  try {
    const bytes = readFileSync(file);
    const end = bytes.length - checksumBytes;
    const code = bytes.subarray(0, end);
    return end > 0 && bytes.readUInt32LE(end) === crc32(code) ? code : undefined;
  } catch {
    // Not there, or not for this user: this start compiles.
    return undefined;
  }
}

/**
 * Keeps the code that is compiled by now for the next start, where dist/ can be written to. Making
 * it holds up requests: where dist/ belongs to another user, as in a container, it is not made.
 */
function keep(script, file) {
  const draft = `${file}.${process.pid}`;
  const opened = openDraft(draft);
  if (opened === undefined) return;
  const code = script.createCachedData();
  const checksum = Buffer.alloc(checksumBytes);
  checksum.writeUInt32LE(crc32(code));
  try {
    writeFileSync(opened, Buffer.concat([code, checksum]));
    renameSync(draft, file);
  } catch {
    // The next start compiles again.
    rmSync(draft, { force: true });
  } finally {
    closeSync(opened);
  }
}

function openDraft(draft) {
  try {
    mkdirSync(compiledFolder, { recursive: true });
    return openSync(draft, 'w');
  } catch {
    // Not for this user to write: each start compiles.
    return undefined;
  }
}

function fail(message) {
  process.stderr.write(`tollgate: ${message}\n`);
  process.exit(1);
}
