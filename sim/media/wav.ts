/** The sample rate of all audio of the simulator. */
export const sampleHz = 24_000;

const secondsPerLetter = 0.065;
const secondsMin = 0.4;
const loudness = 6_000;

/** Precedes the text in a file's comment, so that the simulator recognises its own audio. */
export const mark = 'said: ';

export const secondsOf = (text: string): number =>
  Math.max(secondsMin, [...text].length * secondsPerLetter);

/** Simulated speech: each letter is a tone, a space is a pause. 16 bits, one channel. */
export function samplesOf(text: string): Buffer {
  const letters = [...text];
  const count = Math.round(secondsOf(text) * sampleHz);
  const each = count / Math.max(1, letters.length);
  const samples = Buffer.alloc(count * 2);
  for (let i = 0; i < count; i++) {
    const letter = letters[Math.floor(i / each)] ?? ' ';
    if (/\s/.test(letter)) continue;
    const hz = 160 + ((letter.codePointAt(0) ?? 0) % 64) * 8;
    const swell = Math.sin((((i % each) + 1) / each) * Math.PI);
    samples.writeInt16LE(
      Math.round(Math.sin((i / sampleHz) * hz * 2 * Math.PI) * loudness * swell),
      i * 2,
    );
  }
  return samples;
}

function chunk(id: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(id, 'latin1');
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
}

/** A WAV file with the text as tones and in a comment. */
export function wav(text: string): Buffer {
  const format = Buffer.alloc(16);
  format.writeUInt16LE(1, 0);
  format.writeUInt16LE(1, 2);
  format.writeUInt32LE(sampleHz, 4);
  format.writeUInt32LE(sampleHz * 2, 8);
  format.writeUInt16LE(2, 12);
  format.writeUInt16LE(16, 14);
  const comment = chunk(
    'LIST',
    Buffer.concat([Buffer.from('INFO'), chunk('ICMT', Buffer.from(`${mark}${text}\0`))]),
  );
  return chunk(
    'RIFF',
    Buffer.concat([
      Buffer.from('WAVE'),
      chunk('fmt ', format),
      comment,
      chunk('data', samplesOf(text)),
    ]),
  );
}

/** The seconds of a WAV file; undefined when it is none, or broken. */
export function wavSeconds(file: Buffer): number | undefined {
  let rate = 0;
  for (let at = 12; at + 8 <= file.length; ) {
    const id = file.toString('latin1', at, at + 4);
    const length = file.readUInt32LE(at + 4);
    if (id === 'fmt ' && at + 20 <= file.length) rate = file.readUInt32LE(at + 16);
    if (id === 'data')
      return rate === 0 ? undefined : Math.min(length, file.length - at - 8) / rate;
    at += 8 + length + (length % 2);
  }
  return undefined;
}
