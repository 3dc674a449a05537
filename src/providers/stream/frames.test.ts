import { expect, it } from 'vitest';
import { SseFrames } from './frames.ts';

function heard(
  text: string,
  offsets: readonly number[] = [],
): { events: string[][]; rest: string } {
  const events: string[][] = [];
  const frames = new SseFrames((data, name) => {
    events.push([name, data]);
    return data !== 'stop';
  });
  const bytes = Buffer.from(text);
  const borders = [0, ...offsets, bytes.length];
  for (let i = 1; i < borders.length; i++) frames.push(bytes.subarray(borders[i - 1], borders[i]));
  return { events, rest: frames.end() };
}

const latin1 = (text: string): string => Buffer.from(text).toString('latin1');
const stream =
  ': hello\n\nevent: a\ndata: {"x":"ü"}\n\ndata:1\ndata: 2\r\nid: 7\n\ndata:\n\nevent: b\r\ndata: {"y":1}\r\n\r\nretry: 5\n\n';
const events = [
  ['a', latin1('{"x":"ü"}')],
  ['', '1 2'],
  ['b', '{"y":1}'],
];

it('gives events with their names, whatever ends their lines, and nothing of comments', () => {
  expect(heard(stream)).toEqual({ events, rest: '' });
});

it('gives the same events at every cut, and byte by byte', () => {
  const { length } = Buffer.from(stream);
  for (let at = 1; at < length; at++) expect(heard(stream, [at])).toEqual({ events, rest: '' });
  expect(
    heard(
      stream,
      Array.from({ length: length - 1 }, (_, i) => i + 1),
    ).events,
  ).toEqual(events);
});

/** Each line ends in CR alone. */
const inCr = stream.replaceAll('\r\n', '\n').replaceAll('\n', '\r');

it('R9: gives the same events of lines that end in CR alone, and behind a byte order mark, at every cut and byte by byte', () => {
  for (const sent of [
    inCr,
    `\ufeff${stream}`,
    `\ufeff${inCr}`,
    `\ufeff${stream.replace(': hello\n\n', '')}`,
  ]) {
    const { length } = Buffer.from(sent);
    expect(heard(sent)).toEqual({ events, rest: '' });
    for (let at = 1; at < length; at++) expect(heard(sent, [at])).toEqual({ events, rest: '' });
    expect(
      heard(
        sent,
        Array.from({ length: length - 1 }, (_, i) => i + 1),
      ).events,
    ).toEqual(events);
  }
  expect(heard('data: a\r\rdata: b\r\n\r\ndata: {"c":1}').events).toEqual([
    ['', 'a'],
    ['', 'b'],
    ['', '{"c":1}'],
  ]);
});

it('gives a last event that lacks its empty line, but not half an event', () => {
  expect(heard('data: {"x":1}')).toEqual({ events: [['', '{"x":1}']], rest: '' });
  expect(heard('data: [DONE]\n').events).toEqual([['', '[DONE]']]);
  expect(heard('data: {"x":')).toEqual({ events: [], rest: 'data: {"x":' });
  expect(heard('{"error":{}}\n')).toEqual({ events: [], rest: '{"error":{}}' });
});

it('falls silent when its listener has heard enough', () => {
  expect(heard('data: stop\n\ndata: more\n\ndata: {}').events).toEqual([['', 'stop']]);
});

it('refuses an event without end', () => {
  const frames = new SseFrames(() => true);
  const piece = Buffer.alloc(8 * 1024 * 1024, 'x');
  expect([1, 2, 3, 4, 5].map(() => frames.push(piece))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    expect.any(String),
  ]);
});
