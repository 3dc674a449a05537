import { expect, test } from 'vitest';
import { printable } from './code-body.ts';
import { type Turn, chatBody, messagesOf, sentTurns } from './turns.ts';

const files = [
  { name: 'fox.png', type: 'image/png', url: 'data:image/png;base64,AAAA' },
  { name: 'a.pdf', type: 'application/pdf', url: 'data:application/pdf;base64,BBBB' },
  { name: 'a.wav', type: 'audio/wav', url: 'data:audio/wav;base64,CCCC' },
];
const turn = { role: 'user', id: 1, text: 'What is this?', files } as const;

test('files go as the API takes each kind', () => {
  expect(messagesOf('', [turn])).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        {
          type: 'file',
          file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' },
        },
        { type: 'input_audio', input_audio: { data: 'CCCC', format: 'wav' } },
      ],
    },
  ]);
});

test('printed, they are read from the disk', () => {
  const settings = { system: '', numbers: { seed: 7 }, effort: undefined, tools: undefined };
  const body = JSON.stringify(printable(chatBody('m', settings, [turn]), files));
  expect(body).toContain('"url":{"name":"fox.png","type":"image/png","as":"url"}');
  expect(body).toContain('"data":{"name":"a.wav","type":"audio/wav","as":"base64"}');
  expect(body).toContain('"seed":7');
});

test('the request that was sent last ends before its answer', () => {
  const answer: Turn = {
    role: 'assistant',
    id: 2,
    model: 'm',
    text: 'A fox.',
    reasoning: '',
    calls: [],
    state: 'done',
    finish: 'stop',
    error: undefined,
    requestId: undefined,
    firstByteMs: undefined,
    charge: undefined,
    raw: [],
  };
  const result: Turn = { role: 'tool', id: 5, callId: 'c', text: '42' };
  const running: Turn = { ...answer, id: 4, state: 'running' };
  expect(sentTurns([])).toEqual([]);
  expect(sentTurns([turn, answer])).toEqual([turn]);
  expect(sentTurns([turn, answer, turn, running])).toEqual([turn, answer, turn]);
  expect(sentTurns([turn, answer, result])).toEqual([turn]);
});
