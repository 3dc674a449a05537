import { crc32 } from 'node:zlib';

/**
 * docs.aws.amazon.com/transcribe/latest/dg/event-stream.html, 2026-08: lengths, their checksum,
 * headers, payload, checksum of everything before.
 */
const preludeBytes = 12;
const checksumBytes = 4;
const stringType = 7;
const alphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

function header(name: string, value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([
    Buffer.from([name.length]),
    Buffer.from(name),
    Buffer.from([stringType, bytes.length >> 8, bytes.length & 255]),
    bytes,
  ]);
}

function frame(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value)));
  const body = Buffer.from(payload);
  const message = Buffer.alloc(preludeBytes + head.length + body.length + checksumBytes);
  message.writeUInt32BE(message.length, 0);
  message.writeUInt32BE(head.length, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  head.copy(message, preludeBytes);
  body.copy(message, preludeBytes + head.length);
  message.writeUInt32BE(crc32(message.subarray(0, -checksumBytes)), message.length - checksumBytes);
  return message;
}

const json = { ':content-type': 'application/json' };

/** An event, with padding that hides the length of its text (recorded: `p`). */
export function eventFrame(type: string, data: object): Buffer {
  const text = JSON.stringify(data);
  const padding = alphabet.slice(0, 2 + (text.length % (alphabet.length - 2)));
  return frame(
    { ':event-type': type, ...json, ':message-type': 'event' },
    JSON.stringify({ ...data, p: padding }),
  );
}

export function exceptionFrame(type: string, message: string): Buffer {
  return frame(
    { ':exception-type': type, ...json, ':message-type': 'exception' },
    JSON.stringify({ message }),
  );
}

/** A complete frame with a truncated payload. */
export const brokenFrame = frame(
  { ':event-type': 'contentBlockDelta', ...json, ':message-type': 'event' },
  '{"contentBlockIndex":0,"delta":{"text":',
);
