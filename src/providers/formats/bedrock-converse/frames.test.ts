import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventStreamFrames } from './stream.ts';
import {
  eventFrame,
  eventStreamFrame,
  exceptionFrame,
} from '../../../../test/support/event-stream.ts';

interface Heard {
  readonly events: (readonly [string, string])[];
  readonly problem: string | undefined;
}

function hear(pieces: readonly Buffer[]): Heard {
  const events: [string, string][] = [];
  const frames = new EventStreamFrames((data, name) => events.push([name, data]) > 0);
  for (const piece of pieces) {
    const problem = frames.push(piece);
    if (problem !== undefined) return { events, problem };
  }
  return { events, problem: undefined };
}

/** Cuts the bytes into pieces at these offsets. */
const cut = (bytes: Buffer, places: readonly number[]): Buffer[] => {
  const at = [
    0,
    ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b),
    bytes.length,
  ];
  return at.slice(1).map((end, i) => bytes.subarray(at[i], end));
};

const vector =
  '0000009e00000057fe1b824f0b3a6576656e742d74797065070011636f6e74656e74426c6f636b44656c74610d3a636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d747970650700056576656e747b22636f6e74656e74426c6f636b496e646578223a302c2264656c7461223a7b2274657874223a224869227d2c2270223a22616263227d9343f010';
const payload = '{"contentBlockIndex":0,"delta":{"text":"Hi"},"p":"abc"}';

test('reads a frame as it was recorded, at every cut', () => {
  const bytes = Buffer.from(vector, 'hex');
  for (let at = 0; at <= bytes.length; at++) {
    expect(hear(cut(bytes, [at]))).toEqual({
      events: [['contentBlockDelta', payload]],
      problem: undefined,
    });
  }
  expect(hear([...bytes].map((byte) => Buffer.from([byte]))).events).toHaveLength(1);
});

test('the tests write what was recorded', () => {
  expect(
    eventFrame('contentBlockDelta', {
      contentBlockIndex: 0,
      delta: { text: 'Hi' },
      p: 'abc',
    }).toString('hex'),
  ).toBe(vector);
});

test('any messages, cut anywhere, are heard whole and in order', () => {
  const message = fc.record({
    type: fc.stringMatching(/^[a-zA-Z]{1,20}$/),
    text: fc.string({ unit: 'binary', maxLength: 60 }),
  });
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 6 }),
      fc.array(fc.nat(), { maxLength: 12 }),
      (messages, places) => {
        const bytes = Buffer.concat(messages.map(({ type, text }) => eventFrame(type, text)));
        const heard = hear(cut(bytes, places));
        expect(heard.problem).toBeUndefined();
        expect(
          heard.events.map(([name, data]) => [name, Buffer.from(data, 'latin1').toString()]),
        ).toEqual(messages.map(({ type, text }) => [type, JSON.stringify(text)]));
      },
    ),
    { numRuns: 300 },
  );
});

test('a changed bit is never read as something else', () => {
  const good = [
    eventFrame('messageStart', { role: 'assistant' }),
    eventFrame('contentBlockDelta', { delta: { text: 'Hi' } }),
    eventFrame('messageStop', {}),
  ];
  const bytes = Buffer.concat(good);
  const whole = hear([bytes]).events;
  fc.assert(
    fc.property(
      fc.nat({ max: bytes.length * 8 - 1 }),
      fc.array(fc.nat(), { maxLength: 4 }),
      (bit, places) => {
        const changed = Buffer.from(bytes);
        changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        const { events, problem } = hear(cut(changed, places));
        expect(problem).toBeTypeOf('string');
        expect(events).toEqual(whole.slice(0, events.length));
        expect(events.length).toBeLessThan(whole.length);
      },
    ),
    { numRuns: 500 },
  );
});

test('bytes that are no event stream are refused as soon as their lengths can be read', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 12, maxLength: 80 }), (bytes) => {
      expect(hear([Buffer.from(bytes)])).toEqual({
        events: [],
        problem: 'bytes that are no event stream',
      });
    }),
  );
  expect(hear([Buffer.from('{"message":"no"}')]).problem).toBe('bytes that are no event stream');
});

test('lengths beyond every limit are not waited for', () => {
  const prelude = (length: number, headersLength: number): Buffer => {
    const bytes = Buffer.alloc(12);
    bytes.writeUInt32BE(length, 0);
    bytes.writeUInt32BE(headersLength, 4);
    bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8);
    return bytes;
  };
  expect(hear([prelude(25 * 1024 * 1024, 0)]).problem).toBe('an event that is too long');
  expect(hear([prelude(1024 * 1024, 200 * 1024)]).problem).toBe('an event that is too long');
  expect(hear([prelude(20, 10)]).problem).toBe('an event that is shorter than its parts');
  expect(hear([prelude(24 * 1024 * 1024, 0)]).problem).toBeUndefined();
});

test('headers of every type are passed over; those that end too early are damage', () => {
  const x = (type: number, ...value: number[]): Buffer => Buffer.from([1, 0x78, type, ...value]);
  const others = [
    x(0),
    x(1),
    x(2, 9),
    x(3, 9, 9),
    x(4, 9, 9, 9, 9),
    x(5, ...Array<number>(8).fill(9)),
    x(6, 0, 2, 9, 9),
    x(8, ...Array<number>(8).fill(9)),
    x(9, ...Array<number>(16).fill(9)),
  ];
  const named = { ':event-type': 'e' };
  expect(hear([eventStreamFrame(named, '{}', Buffer.concat(others))])).toEqual({
    events: [['e', '{}']],
    problem: undefined,
  });
  for (const bad of [x(10), x(7, 0, 9, 1), x(5, 1), Buffer.from([200, 1]), Buffer.from([1])]) {
    expect(hear([eventStreamFrame(named, '{}', bad)]).problem).toBe(
      'an event with damaged headers',
    );
  }
});

test('exceptions and errors are told from events', () => {
  expect(hear([exceptionFrame('throttlingException', { message: 'slow' })]).events).toEqual([
    ['exception:throttlingException', '{"message":"slow"}'],
  ]);
  expect(
    hear([eventStreamFrame({ ':message-type': 'error', ':error-code': 'InternalFailure' }, '')])
      .events,
  ).toEqual([['exception:InternalFailure', '']]);
});

test('who has heard enough hears no more', () => {
  let heard = 0;
  const frames = new EventStreamFrames(() => {
    heard += 1;
    return false;
  });
  frames.push(Buffer.concat([eventFrame('a', 1), eventFrame('b', 2)]));
  expect(heard).toBe(1);
});
