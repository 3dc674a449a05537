import { describe, expect, it } from 'vitest';
import type { FaultKind } from '../src/base/fault.ts';
import type { Random } from '../src/base/random.ts';
import type { Adapter, VendorCall } from '../src/providers/adapter.ts';
import { isFault } from '../src/providers/formats/fault.ts';
import { answerMeaning, type Meaning, streamMeaning } from './chat-meaning.ts';
import { type Recording, recordingsAt, recordingsFolder } from './recorded-traffic.ts';
import { callAs, expectSameAtEveryCut, play, replays, vendorsOf } from './replay.ts';

/** A vendor's own format, as this test reads it: without any code of the gateway. */
export interface TranslatedFormat {
  readonly title: string;
  /** As the recordings call it. */
  readonly endpoint: string;
  readonly chat: Adapter;
  readonly prepare?: (recording: Recording) => Recording;
  readonly model: (recording: Recording) => string;
  readonly meaning: (reply: Buffer) => Meaning;
  /** The recorded request in chat's words; undefined where chat has none. */
  readonly chatRequest: (recording: Recording) => Record<string, unknown> | undefined;
  /** The recorded request, said in chat's words, arrives as it was recorded. */
  readonly checkRequest: (recording: Recording, call: VendorCall) => void;
  /** Compares what a client of chat is told with what was recorded. */
  readonly same?: (got: Meaning, want: Meaning) => void;
  /** Whether a whole reply with a good status is no answer. */
  readonly failed?: (want: Meaning, recording: Recording) => boolean;
  /** How the call reads the answer, where that is not how it asked. */
  readonly reader?: (call: VendorCall) => VendorCall;
  /** The faults that a status may mean. */
  readonly faults: (recording: Recording) => readonly FaultKind[];
}

/**
 * What a recorded conversation is in chat's words, as `said` tells; undefined where there is none.
 */
export const conversation =
  (
    said: (native: Record<string, unknown>) => Record<string, unknown> | undefined,
  ): TranslatedFormat['chatRequest'] =>
  ({ request }) =>
    Array.isArray(request?.['messages']) ? said({ ...request }) : undefined;

/** Arguments are compared as JSON: streamed ones keep the vendor's white space. */
export function sameMeaning(got: Meaning, want: Meaning): void {
  expect(got.text).toBe(want.text);
  expect(got.calls.map(({ name, args }) => [name, JSON.parse(args)])).toEqual(
    want.calls.map(({ name, args }) => [name, JSON.parse(args)]),
  );
  expect(got.reasoning).toBe(want.reasoning);
  expect(got.finish).toBe(want.finish);
  expect(got.usage).toEqual(want.usage);
}

/**
 * The tests of one format: every recording means the same after translation to chat, at every cut,
 * and chat's request becomes the recorded one.
 */
export function replayTranslated(format: TranslatedFormat): void {
  const { chat, endpoint, same = sameMeaning, reader = (call) => call } = format;
  const all = recordingsFolder === undefined ? [] : recordingsAt(recordingsFolder, endpoint);
  const recordings = all.map(format.prepare ?? ((one) => one));
  const suite = replays(endpoint);
  const callOf = (recording: Recording): VendorCall =>
    callAs(
      recording,
      format.chatRequest(recording) ?? { messages: [{ role: 'user', content: 'Go on.' }] },
      format.model(recording),
    );

  const checkStream = (recording: Recording, random: Random): void => {
    const call = reader(callOf(recording));
    const want = format.meaning(recording.reply);
    const { text, meter } = play(chat, call, [recording.reply]);
    // A stream that was lost, or cut, is a fault.
    if (want.finish === undefined || recording.reply.length === 0)
      expect(meter.fault).toBeDefined();
    else same(streamMeaning(text), want);
    expectSameAtEveryCut(chat, call, recording, text, random);
    const collector = chat.collect(call);
    collector.push(recording.reply);
    if (meter.fault === undefined)
      same(answerMeaning(collector.answer().body.toString('utf8')), want);
  };
  const checkWhole = (recording: Recording): void => {
    const want = format.meaning(recording.reply);
    const result = chat.read(recording.reply, 'application/json', reader(callOf(recording)));
    if (format.failed?.(want, recording) === true) expect(isFault(result)).toBe(true);
    else if (isFault(result)) throw new Error(`${result.kind}: ${result.message}`);
    else
      same(answerMeaning(result.body.toString('utf8')), { ...want, finish: want.finish ?? 'stop' });
  };
  const checkFault = (recording: Recording): void => {
    const { kind, message } = chat.fault(
      recording.status,
      recording.headers,
      recording.reply.toString('utf8'),
    );
    expect(message).not.toBe('');
    expect(format.faults(recording)).toContain(kind);
  };

  describe.skipIf(recordingsFolder === undefined)(`recorded traffic in ${format.title}`, () => {
    it.each(vendorsOf(recordings))(
      'of %s means the same after translation, at every cut',
      (vendor) =>
        suite.each(
          vendor,
          recordings.filter((recording) => recording.vendor === vendor),
          (recording, random) => {
            if (recording.status >= 400) checkFault(recording);
            else if (recording.streamed) checkStream(recording, random);
            else checkWhole(recording);
          },
        ),
      180_000,
    );

    it('comes from requests that arrive as they were sent', () =>
      suite.each('requests', recordings, (recording) => {
        if (recording.status >= 400 || format.chatRequest(recording) === undefined) return false;
        format.checkRequest(recording, callOf(recording));
        return true;
      }));
  });
}
