import { describe, expect, it } from 'vitest';
import type { VendorCall } from '../src/providers/adapter.ts';
import { generateOverChat } from '../src/providers/bridges/generate-over-chat.ts';
import { geminiNative } from '../src/providers/formats/gemini/native.ts';
import { openaiChat } from '../src/providers/formats/openai-chat/adapter.ts';
import { streamMeaning } from './chat-meaning.ts';
import { everyOffset, fewCuts } from './cuts.ts';
import { geminiMeaning } from './gemini-meaning.ts';
import { geminiCases, isStream, streamIn } from './judge/gemini-cases.ts';
import { chatRecordings, recordingsFolder } from './recorded-traffic.ts';
import { callAs, expectSameAtEveryCut, play, replays } from './replay.ts';

/**
 * Streams for clients of generateContent: however a network cuts them, the client is told the same.
 */
const folder = recordingsFolder;
const native = (folder === undefined ? [] : geminiCases(folder).cases)
  .filter((one) => isStream(one) && one.status < 400 && one.reply.length > 0)
  .map((one) => ({ ...one, reply: streamIn('events', one.reply) }));
const chats =
  folder === undefined
    ? []
    : chatRecordings(folder).filter(
        ({ status, streamed, vendor }) => status < 400 && streamed && vendor === 'openai',
      );
const bridged = generateOverChat(openaiChat());
const everyOffsetBytesMax = 3_000;
const suite = replays('generateContent natively and over chat');

const callFor = (body: Record<string, unknown>, model: string): VendorCall =>
  callAs({ streamed: true }, body, model, 'replayed');
const named = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replaceAll(/("modelVersion"\s*:\s*)"[^"]*"/g, '$1"public/model"')
    .replaceAll(/("responseId"\s*:\s*)"[^"]*"/g, '$1"replayed"');

describe.skipIf(folder === undefined)('recorded streams for clients of generateContent', () => {
  it('are passed on byte by byte, cut at every offset', { timeout: 120_000 }, () => {
    expect(native.length).toBeGreaterThan(150);
    for (const { id, body, model, reply } of native) {
      const call = callFor(JSON.parse(body.toString('utf8')), model);
      const { text } = play(geminiNative, call, [reply]);
      expect(text, id).toBe(named(reply.toString('utf8')));
      for (const pieces of everyOffset(reply))
        expect(play(geminiNative, call, pieces).text, id).toBe(text);
    }
  });

  it('mean what chat means, cut at every offset', { timeout: 120_000 }, () =>
    suite.each('over chat', chats, (recording, random) => {
      const body = {
        contents: [{ parts: [{ text: 'Go on.' }] }],
        generationConfig: { thinkingConfig: { includeThoughts: true } },
      };
      const call = callFor(body, 'gpt-4o');
      const { text, meter } = play(bridged, call, [recording.reply]);
      const want = streamMeaning(recording.reply.toString('utf8'));
      if (want.choices !== 1 || want.finish === undefined) return false;
      expect(meter.fault).toBeUndefined();
      if (want.text !== '') expect(geminiMeaning(text).text).toBe(want.text);
      const small = recording.reply.length <= everyOffsetBytesMax;
      expectSameAtEveryCut(bridged, call, recording, text, random, small ? everyOffset : fewCuts);
      return true;
    }),
  );
});
