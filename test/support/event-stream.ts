import { crc32 } from 'node:zlib';

/** One message of AWS's binary event stream, for tests. `more`: bytes of further headers. */
export function eventStreamFrame(
  headers: Readonly<Record<string, string>>,
  payload: string | Buffer,
  more: Buffer = Buffer.alloc(0),
): Buffer {
  const parts: Buffer[] = [];
  for (const [name, value] of Object.entries(headers)) {
    const bytes = Buffer.from(value);
    parts.push(
      Buffer.from([name.length]),
      Buffer.from(name),
      Buffer.from([7, bytes.length >> 8, bytes.length & 0xff]),
      bytes,
    );
  }
  const block = Buffer.concat([...parts, more]);
  const body = Buffer.from(payload);
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(12 + block.length + body.length + 4, 0);
  prelude.writeUInt32BE(block.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const checked = Buffer.concat([prelude, block, body]);
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(crc32(checked));
  return Buffer.concat([checked, crc]);
}

/** An event as Bedrock sends it. */
export function eventFrame(type: string, payload: unknown): Buffer {
  return eventStreamFrame(
    { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' },
    JSON.stringify(payload),
  );
}

/** An exception inside a stream. */
export function exceptionFrame(type: string, payload: unknown): Buffer {
  return eventStreamFrame(
    { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' },
    JSON.stringify(payload),
  );
}
