import { type IncomingHttpHeaders } from 'node:http';
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { Refusal } from '../base/refusal.ts';
import { type Form, type FormLimits, readForm } from './multipart.ts';
import { spoolLimits, SpoolPool } from './spool.ts';

const limits: FormLimits = {
  fields: 4,
  fieldBytes: 100,
  files: 2,
  fileBytes: 400_000,
  bodyBytes: 1_000_000,
};
const headers: IncomingHttpHeaders = { 'content-type': 'multipart/form-data; boundary=xyz' };
const field = (name: string, value: string): string =>
  `--xyz\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = (name: string, content: string): string =>
  `--xyz\r\ncontent-disposition: form-data; name="${name}"; filename="../a/b.wav"\r\ncontent-type: audio/wav\r\n\r\n${content}\r\n`;
const end = '--xyz--\r\n';

/** Reads what arrives in pieces of `pieceBytes`. */
async function read(
  body: string,
  pieceBytes = 65_536,
  spools = new SpoolPool(),
  said = headers,
): Promise<Form | 'left' | Refusal> {
  const bytes = Buffer.from(body);
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes)
    pieces.push(bytes.subarray(at, at + pieceBytes));
  try {
    return await readForm(Readable.from(pieces), said, limits, spools);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

const refused = (result: Form | 'left' | Refusal): string =>
  result instanceof Refusal ? `${result.param}: ${result.message}` : 'not refused';

test('fields and files arrive as sent, in their order, however the bytes are cut', async () => {
  const body =
    field('model', 'whisper-1') +
    file('file', 'RIFF\r\n--xy') +
    field('tags[]', 'ä') +
    field('tags[]', '') +
    end;
  for (const pieceBytes of [1, 2, 7, 1_000]) {
    const form = await read(body, pieceBytes);
    if (form === 'left' || form instanceof Refusal) throw new Error('a form was expected');
    expect(form.fields).toEqual([
      ['model', 'whisper-1'],
      ['tags[]', 'ä'],
      ['tags[]', ''],
    ]);
    expect(form.files.map(({ field: name, filename, type }) => [name, filename, type])).toEqual([
      ['file', 'b.wav', 'audio/wav'],
    ]);
    expect(String(await form.files[0]?.content.bytes())).toBe('RIFF\r\n--xy');
  }
});

test('a part that nobody reads holds nothing up', async () => {
  const parts = [
    'x: y',
    'content-disposition: attachment; name="a"',
    `content-disposition: form-data; name="a"; filename*=UTF-8''a%0d%0a`,
  ];
  for (const head of parts)
    for (const bytes of [10, 17_000, 66_000, 300_000]) {
      const body = Buffer.from(
        `${field('model', 'm')}--xyz\r\n${head}\r\n\r\n${'A'.repeat(bytes)}\r\n${field('more', 'x')}${end}`,
      );
      const whole = readForm(body, headers, limits, new SpoolPool());
      for (const reading of [read(String(body)), read(String(body), 1_500), whole])
        expect(await reading, `${head} ${bytes}`).toMatchObject({
          fields: [
            ['model', 'm'],
            ['more', 'x'],
          ],
          files: [],
        });
    }
});

test('a large file goes to disk under no name, is read as often as wanted, and gives its room back', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'spool-'));
  const spools = new SpoolPool({
    ...spoolLimits,
    folder,
    memoryBytesMax: 1_000,
    pieceBytes: 7_777,
  });
  const content = 'abcdefghij'.repeat(30_000);
  const form = await read(file('file', content) + end, 10_000, spools);
  if (form === 'left' || form instanceof Refusal) throw new Error('a form was expected');
  const spool = form.files[0]?.content;
  for (let round = 0; round < 2; round++) {
    let text = '';
    for await (const piece of spool?.read() ?? []) text += String(piece);
    expect(text === content).toBe(true);
  }
  expect(String(await spool?.slice(299_995, 100))).toBe('fghij');
  expect(spools.bytes).toBe(300_000);
  expect(readdirSync(folder)).toEqual([]);
  form.discard();
  form.discard();
  expect(spools.bytes).toBe(0);
});

test('a form that ends too early is malformed, at every byte, and leaves nothing behind', async () => {
  const spools = new SpoolPool();
  const body = field('model', 'm') + file('file', 'sound') + '--xyz--';
  for (let length = 0; length < body.length; length++) {
    const result = await read(body.slice(0, length), 50, spools);
    if (length > 0 || result instanceof Refusal)
      expect(refused(result)).toContain('null: We could not read the multipart body');
    expect(spools.bytes).toBe(0);
  }
});

test('too many fields, files or bytes are refused by name, and keep nothing', async () => {
  const spools = new SpoolPool();
  const cases: [string, string][] = [
    [field('a', 'x').repeat(5) + end, 'more than 4 fields'],
    [file('a', 'x').repeat(3) + end, 'more than 2 files'],
    [
      field('prompt', 'x'.repeat(101)) + end,
      "prompt: Invalid value for 'prompt': it is larger than 100 bytes.",
    ],
    [
      file('file', 'x'.repeat(400_001)) + end,
      "file: Invalid value for 'file': it is larger than 400000 bytes.",
    ],
    [`${'x'.repeat(1_000_001)}\r\n${end}`, 'limit of 1000000 bytes'],
    [
      `--xyz\r\ncontent-disposition: form-data; name="a"\r\nx: ${'y'.repeat(1_000_001)}`,
      'limit of 1000000 bytes',
    ],
  ];
  for (const [body, message] of cases) {
    expect(refused(await read(body, 65_536, spools))).toContain(message);
    expect(spools.bytes).toBe(0);
  }
  expect(
    refused(await read('', 10, spools, { ...headers, 'content-length': '1000001' })),
  ).toContain('limit of 1000000 bytes');
});

test('a body that is no form is refused', async () => {
  for (const type of ['application/json', 'multipart/form-data', undefined])
    expect(
      refused(
        await read(end, 10, new SpoolPool(), type === undefined ? {} : { 'content-type': type }),
      ),
    ).toContain('Unsupported content type');
  expect(
    refused(
      await read(end, 10, new SpoolPool(), { 'content-type': 'multipart/form-data; charset=x' }),
    ),
  ).toContain('Boundary not found');
});

test('more uploads than there is room for wait outside', async () => {
  const spools = new SpoolPool({ ...spoolLimits, bytesMax: 10 });
  expect(refused(await read(file('file', 'x'.repeat(11)) + end, 50, spools))).toContain(
    'too many uploads at once',
  );
  expect(spools.bytes).toBe(0);
});

test('a disk that takes no file is our fault, not the form’s', async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'spool-')), 'file');
  writeFileSync(folder, '');
  const spools = new SpoolPool({ ...spoolLimits, folder, memoryBytesMax: 10 });
  const body = field('model', 'm') + file('file', 'x'.repeat(200_000)) + end;
  await expect(read(body, 65_536, spools)).rejects.toMatchObject({ code: 'EEXIST' });
  expect(spools.bytes).toBe(0);
});

test('a client that left before its form is read is no refusal', async () => {
  const body = new Readable({ read() {} }).destroy();
  await new Promise((resolve) => body.once('close', resolve));
  expect(await readForm(body, headers, limits, new SpoolPool())).toBe('left');
});

test('a client that leaves in the middle is no refusal', async () => {
  const spools = new SpoolPool();
  const body = new Readable({ read() {} });
  body.push(field('model', 'm') + file('file', 'half').slice(0, -3));
  const reading = readForm(body, headers, limits, spools);
  setImmediate(() => body.destroy());
  expect(await reading).toBe('left');
  expect(spools.bytes).toBe(0);
});
