import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { RequestContext } from '../../src/api/endpoint.ts';
import { generateFileEndpoints } from '../../src/api/generate-files.ts';
import { Refusal } from '../../src/base/refusal.ts';
import { uploadLimits } from '../../src/media/limits.ts';
import { readUploadRow } from '../../src/media/upload-table.ts';
import { Uploads } from '../../src/media/uploads.ts';
import { openSealer } from '../../src/storage/seal.ts';
import { onSqlite } from '../databases.ts';
import { SimulatedClient } from '../gateway/simulated-client.ts';
import { fileStore } from '../support/file-store.ts';
import { fuzz, timeout } from './fuzzing.ts';

const fileBytesMax = 64;
const declared = 9;
const account = 'ada';

/** Header lines, an empty line, and the body. `;` begins the query. */
const samples = [
  'protocol: resumable\ncommand: start\nheader-content-length: 9\nheader-content-type: image/png\n\n{"file":{"displayName":"a","mimeType":"text/plain","sizeBytes":"9"}}',
  'protocol: resumable\ncommand: start\n\n{"file":{"display_name":"é 名"}}',
  'command: upload\noffset: 0\n\nabcd',
  'command: upload, finalize\noffset: 0\n\nabcdefghi',
  'command: finalize\n\n',
  'command: query\n\n',
  'command: cancel\n\n',
].map((text) => Buffer.from(text));
const words = [
  '\n',
  '\n\n',
  ': ',
  ',',
  'upload',
  'finalize',
  'cancel',
  'command: ',
  'offset: ',
  'offset: 00',
  'offset: -1',
  'offset: 0x0',
  'offset: 9007199254740993',
  'header-content-length: ',
  'protocol: resumable\ncommand: start',
  '9',
  '{"file":',
  '"displayName":',
  '"sizeBytes":',
  '"name":""',
  'null',
  '[]',
  '{}',
];

interface Sent {
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

function sentIn(input: Buffer): Sent {
  const text = input.toString('latin1');
  const end = text.includes('\n\n') ? text.indexOf('\n\n') : text.length;
  const lines = text.slice(0, end).split('\n');
  const headers = lines.map((line): [string, string] => {
    const colon = line.includes(':') ? line.indexOf(':') : line.length;
    return [`x-goog-upload-${line.slice(0, colon).toLowerCase()}`, line.slice(colon + 1)];
  });
  const body = input.subarray(end + 2);
  const own = { 'content-type': 'application/json', 'content-length': String(body.length) };
  return { headers: { ...Object.fromEntries(headers), ...own }, body };
}

onSqlite((_name, openFresh) => {
  test('headers and bytes of an upload are taken in their order, or refused by name', {
    timeout,
  }, async () => {
    const { database, files } = await fileStore(openFresh);
    const uploads = new Uploads({
      database,
      files,
      clock: { now: () => 1_800_000_000_000, monotonicMs: () => 0 },
      addresses: { base: () => '' },
      sealer: openSealer(Buffer.alloc(32, 7)),
      limits: { ...uploadLimits, fileBytesMax },
    });
    const parts = {
      catalog: () => ({ groups: new Map() }),
      limiter: { enter: async () => ({ finish: () => undefined }) },
      limits: { bodyBytesInFlightMax: 1e6, countsPerMinute: 1e6 },
    } as unknown as Parameters<typeof generateFileEndpoints>[0];
    const [posting] = generateFileEndpoints(parts, uploads);

    /** The answer to these bytes; undefined: they were refused. */
    async function answerTo({ headers, body }: Sent, query: string): Promise<string | undefined> {
      const client = new SimulatedClient(
        'id',
        () => true,
        () => undefined,
      );
      const url = `/upload/v1beta/files${query}`;
      const context = {
        id: 'req_1',
        at: 0,
        principal: { userId: account, keyId: 'k', group: 'default' },
        request: { method: 'POST', url, headers, body: Readable.from([body]), params: {} },
        response: client.reply,
        convention: posting?.convention,
      } as unknown as RequestContext;
      try {
        await posting?.handle(context);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        expect(error.message).not.toContain('undefined');
        expect(error.message.length).toBeLessThan(1_000);
        return undefined;
      }
      expect(client).toMatchObject({ status: 200, complete: true });
      JSON.parse(client.body);
      return client.body;
    }

    let taken = 0;
    const holds = async (input: Buffer): Promise<void> => {
      const sent = sentIn(input);
      const begun = await uploads.begin({ account, displayName: '', type: 'text/plain', declared });
      if (begun === undefined) return expect.fail();
      const answer = await answerTo(sent, `?upload_id=${begun.id}`);
      const after = await uploads.find(account, begun.id);
      if (after !== undefined) {
        const bytes = await uploads.read(after);
        if (!Buffer.isBuffer(bytes)) return expect.fail();
        // All bytes of the request or none of them.
        expect([0, sent.body.length]).toContain(bytes.length);
        if (bytes.length > 0) expect(bytes.equals(sent.body)).toBe(true);
        expect(after.bytes).toBe(bytes.length);
        expect(bytes.length).toBeLessThanOrEqual(declared);
        if (answer === undefined && after.bytes > 0) expect(after.sha256).toBeUndefined();
        if (after.sha256 !== undefined) {
          expect(bytes).toHaveLength(declared);
          expect(after.sha256).toBe(createHash('sha256').update(bytes).digest('base64'));
        }
        await uploads.remove(after);
      }
      if (answer !== undefined) taken += 1;
      if ((await answerTo(sent, '')) !== undefined) taken += 1;
      for (const row of await database.query('SELECT * FROM upload')) {
        const upload = readUploadRow(row);
        expect(upload.declared ?? 1).toBeGreaterThanOrEqual(1);
        expect(upload.declared ?? 1).toBeLessThanOrEqual(fileBytesMax);
        expect(upload.displayName.length).toBeLessThanOrEqual(512);
        if (upload.type !== undefined) expect(upload.type).toMatch(/^[^\s/]+\/[^\s/;]+/);
        await uploads.remove(upload);
      }
    };
    // A parser that refuses everything keeps every other promise.
    for (const sample of samples) await holds(sample);
    expect(taken).toBe(6);
    await fuzz('headers of uploads', { samples, words, holds });
  });
});
