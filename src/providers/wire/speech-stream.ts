import type { Fault } from '../../base/fault.ts';
import type { Quantities } from '../../base/quantities.ts';
import type { Call, StreamTranslator } from '../adapter.ts';
import { speakOf, type VoiceFormat, voiceTypes } from '../sound-wish.ts';
import { isObject, type JsonObject, parse, utf8 } from './json.ts';
import { protocolFault } from './openai-chat-fault.ts';
import { SseFrames } from './sse-frames.ts';
import { newMeter } from './transcript-stream.ts';

/** What one event, or a whole answer in JSON, brings. */
export interface Voiced {
  readonly sound?: Buffer | undefined;
  readonly quantities?: Quantities | undefined;
  readonly fault?: Fault | undefined;
  readonly upstreamId?: string | undefined;
  /** There is no more. */
  readonly done?: boolean;
}

/** How a vendor sends a voice. `bytes`: as they are. */
export type VoiceSource =
  | 'bytes'
  | { readonly from: 'events' | 'json'; readonly read: (said: JsonObject) => Voiced };

/** Samples without a head, which get one when the client wants WAV. */
export interface Samples {
  readonly hz: number;
}

const wholeBytesMax = 128 * 1024 * 1024;
const charactersPerSecond = 15;
/** About, of speech: decides how much of a text somebody has heard who leaves in the middle. */
const bytesPerSecond: Readonly<Record<VoiceFormat, number>> = {
  mp3: 16_000,
  opus: 8_000,
  aac: 16_000,
  flac: 24_000,
  wav: 48_000,
  pcm: 48_000,
};

/** A vendor's voice on its way to a client: bytes, or events with the bytes in base64. */
export class SpeechStream implements StreamTranslator {
  readonly meter = newMeter();
  readonly type: string;
  readonly #events: boolean;
  readonly #source: VoiceSource;
  readonly #rate: number;
  readonly #samples: boolean;
  readonly #frames = new SseFrames((data) => this.#heard(parse(utf8(data)), data === '[DONE]'));
  readonly #pieces: Buffer[] = [];
  #head: Buffer | undefined;
  #bytes = 0;
  #out = '';

  /**
   * `made`: what the vendor makes; `samples`: that it makes bare samples, of which the client wants
   * a file.
   */
  constructor(call: Call, made: VoiceFormat, source: VoiceSource, samples?: Samples) {
    const { events } = speakOf(call);
    this.#events = events;
    this.#source = source;
    this.#rate = bytesPerSecond[made];
    this.#samples = made === 'pcm' || samples !== undefined;
    this.#head = samples && wavHead(samples.hz);
    this.type = events ? 'text/event-stream; charset=utf-8' : voiceTypes[made];
  }

  push(piece: Buffer): string {
    const source = this.#source;
    if (source === 'bytes') this.#give(piece);
    else if (source.from === 'json') this.#keep(piece);
    else {
      const problem = this.#frames.push(piece);
      if (problem !== undefined) this.meter.fault = protocolFault(problem);
    }
    return this.#taken();
  }

  end(): string {
    const { meter } = this;
    const source = this.#source;
    if (source !== 'bytes' && source.from === 'json')
      this.#heard(parse(Buffer.concat(this.#pieces).toString('utf8')), false);
    else if (source !== 'bytes') this.#frames.end();
    if (this.#bytes === 0) meter.fault ??= protocolFault('an answer without sound');
    else if (source !== 'bytes' && source.from === 'events' && !meter.done)
      meter.fault ??= protocolFault('a voice that was cut off');
    if (meter.fault !== undefined) return '';
    meter.finished = true;
    return (
      this.#taken() +
      (this.#events ? event({ type: 'speech.audio.done', usage: tokens(meter.quantities) }) : '')
    );
  }

  cutShort(): string {
    return '';
  }

  #keep(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes > wholeBytesMax) this.meter.fault = protocolFault('an answer that is too long');
    else this.#pieces.push(piece);
  }

  #heard(said: unknown, end: boolean): boolean {
    const { meter } = this;
    if (this.#source === 'bytes') return false;
    if (this.#source.from === 'json') this.#bytes = 0;
    if (end) meter.done = true;
    else if (!isObject(said)) meter.fault = protocolFault('an answer that is no JSON object');
    else {
      const { sound, quantities, fault, upstreamId, done } = this.#source.read(said);
      if (sound !== undefined && sound.length > 0) this.#give(sound);
      meter.quantities = quantities ?? meter.quantities;
      meter.upstreamId = upstreamId ?? meter.upstreamId;
      meter.fault = fault;
      meter.done ||= done === true;
    }
    return !meter.done && meter.fault === undefined;
  }

  #give(sound: Buffer): void {
    if (this.#bytes === 0 && !this.#samples && words.has(sound[0])) {
      this.meter.fault = protocolFault('words where a voice was expected');
      return;
    }
    const head = this.#head;
    this.#head = undefined;
    this.#bytes += sound.length;
    this.meter.outputBytes = Math.ceil((this.#bytes / this.#rate) * charactersPerSecond);
    if (head !== undefined) this.#write(head);
    this.#write(sound);
  }

  #write(sound: Buffer): void {
    this.#out += this.#events
      ? event({ type: 'speech.audio.delta', audio: sound.toString('base64') })
      : sound.toString('latin1');
  }

  #taken(): string {
    const out = this.#out;
    this.#out = '';
    return out;
  }
}

/** What a page or an object begins with, and no file of sound does. */
const words: ReadonlySet<number | undefined> = new Set([0x3c, 0x7b]);

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

function tokens({ input = 0, audio_output: audio = 0, output = 0 }: Quantities = {}): object {
  return {
    input_tokens: input,
    output_tokens: audio + output,
    total_tokens: input + audio + output,
  };
}

/**
 * The head of a WAV file of 16-bit samples on one channel whose length is not known yet: as long as
 * can be said.
 */
function wavHead(hz: number): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF\xff\xff\xff\xffWAVEfmt ', 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(hz, 24);
  head.writeUInt32LE(hz * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data\xff\xff\xff\xff', 36, 'latin1');
  return head;
}
