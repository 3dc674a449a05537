import { expect, test } from 'vitest';
import { readForm } from './form.ts';

const part = (head: string, content: string): string => `--b\r\n${head}\r\n\r\n${content}\r\n`;
const prompt = part('Content-Disposition: form-data; name="prompt"', 'a fox');
const file = part(
  'Content-Disposition: form-data; name="image"; filename="a.png"\r\nContent-Type: image/png',
  'bytes\r\nwith --b inside',
);
const read = (body: string) =>
  readForm({ 'content-type': 'multipart/form-data; boundary=b' }, Buffer.from(body));

test('a form is read part by part, up to its last mark', () => {
  expect(read(`${prompt}${file}--b--\r\n`)).toEqual({
    parts: [
      ['prompt', 'a fox'],
      ['image', ''],
    ],
    fields: { prompt: 'a fox' },
    files: [{ name: 'image', type: 'image/png', bytes: Buffer.from('bytes\r\nwith --b inside') }],
  });
  expect(read('--b--\r\n')).toEqual({ parts: [], fields: {}, files: [] });
});

test.each([
  ['without a name', part('Content-Disposition: form-data; filename="a.png"', 'a fox')],
  ['without a head', '--b\r\n\r\na fox\r\n'],
  ['without an end of its head', '--b\r\nContent-Disposition: form-data; name="seed"\r\n'],
])('a part %s makes the form unreadable', (_, broken) => {
  expect(read(`${prompt}${broken}--b--\r\n`)).toBeUndefined();
  expect(read(`${broken}${prompt}--b--\r\n`)).toBeUndefined();
});

test('a truncated form is unreadable', () => {
  expect(read(`${prompt}${file}`)).toBeUndefined();
});
