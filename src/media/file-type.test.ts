import { expect, test } from 'vitest';
import { processorMs } from '../../test/support/processor-time.ts';
import { fileType } from './content-type.ts';
import type { FileKind } from './files.ts';

const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>';

test.each<[string, FileKind, string | undefined]>([
  ['\x89PNG\r\n\x1a\n', 'image', 'image/png'],
  ['\xff\xd8\xff\xe0', 'image', 'image/jpeg'],
  ['RIFF\x10\0\0\0WEBPVP8 ', 'image', 'image/webp'],
  [svg, 'image', 'image/svg+xml'],
  [
    `\xef\xbb\xbf \n<?xml version="1.0"?>\n<!-- made --><!-- by hand -->\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x">${svg}`,
    'image',
    'image/svg+xml',
  ],
  ['<SVG\n>', 'image', 'image/svg+xml'],
  ['<svgx>', 'image', undefined],
  [`<html>${svg}`, 'image', undefined],
  [`<!-- <svg> --><html>`, 'image', undefined],
  ['<!doctype html>', 'image', undefined],
  ['{"error": 1}', 'image', undefined],
  ['', 'image', undefined],
  ['\0\0\0\x18ftypmp42', 'video', 'video/mp4'],
  ['\0\0\0\x18ftypmp42', 'audio', 'audio/mp4'],
  ['\0\0\0\x18ftypmp42', 'image', undefined],
  ['\x1aE\xdf\xa3....webm', 'video', 'video/webm'],
  ['\x1aE\xdf\xa3....webm', 'audio', 'audio/webm'],
  ['ID3\x04', 'audio', 'audio/mpeg'],
  ['\xff\xf3\x18\xc4', 'audio', 'audio/mpeg'],
  ['\xff\xf1\x50\x80', 'audio', 'audio/aac'],
  ['OggS', 'audio', 'audio/ogg'],
  ['OggS', 'video', undefined],
])('%j as %s', (head, kind, type) => {
  expect(fileType(Buffer.from(head, 'latin1'), kind)).toBe(type);
});

test('what looks for a drawing for a long time does not find one any later', () => {
  const started = processorMs();
  for (const bomb of [
    '<!--',
    '<!---->',
    '<!-- -->',
    '<?xml?>',
    '<?xml ?> ',
    ' ',
    '<!doctype svg>',
    '<!--<!--',
  ])
    expect(fileType(Buffer.from(bomb.repeat(1_000)), 'image')).toBeUndefined();
  expect(processorMs() - started).toBeLessThan(1_000);
});
