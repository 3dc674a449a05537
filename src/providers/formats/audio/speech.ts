import type { Fault } from '../../../base/fault.ts';
import { isObject, type JsonObject, parse, utf8 } from '../../../base/json.ts';
import type { Quantities } from '../../../base/quantities.ts';
import { refuse } from '../../../base/refusal.ts';
import {
  type VendorCall,
  type StreamTranslator,
  type VendorAnswer,
  speechRequestOf,
  newMeter,
} from '../../adapter.ts';
import { type SpeechFormat, speechContentTypes } from '../../media-request.ts';
import { SseFrames } from '../../stream/frames.ts';
import { protocolFault, faultWithin, type FaultRule } from '../fault.ts';

/** The content of one event, or of a whole answer in JSON. */
export interface SpeechEvent {
  readonly sound?: Buffer | undefined;
  readonly quantities?: Quantities | undefined;
  readonly fault?: Fault | undefined;
  readonly upstreamId?: string | undefined;
  /** This was the last event. */
  readonly done?: boolean;
}

/** The form in which a vendor sends speech. `bytes`: the audio itself. */
export type VoiceSource =
  | 'bytes'
  | { readonly from: 'events' | 'json'; readonly read: (event: JsonObject) => SpeechEvent };

/** Bare samples, which get a header when the client wants WAV. */
export interface Samples {
  readonly hz: number;
}

const wholeBytesMax = 128 * 1024 * 1024;
const charactersPerSecond = 15;
/**
 * Roughly the bytes of a second of speech: they estimate how much of the text was spoken before a
 * client left.
 */
const bytesPerSecond: Readonly<Record<SpeechFormat, number>> = {
  mp3: 16_000,
  opus: 8_000,
  aac: 16_000,
  flac: 24_000,
  wav: 48_000,
  pcm: 48_000,
};

/** A vendor's speech for a client: bytes, or events with the bytes in base64. */
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
   * `made`: the format that the vendor makes. `samples`: the vendor makes bare samples, of which
   * the client gets a file.
   */
  constructor(call: VendorCall, made: SpeechFormat, source: VoiceSource, samples?: Samples) {
    const { events } = speechRequestOf(call);
    this.#events = events;
    this.#source = source;
    this.#rate = bytesPerSecond[made];
    this.#samples = made === 'pcm' || samples !== undefined;
    this.#head = samples && wavHead(samples.hz);
    this.type = events ? 'text/event-stream; charset=utf-8' : speechContentTypes[made];
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

  #heard(event: unknown, end: boolean): boolean {
    const { meter } = this;
    if (this.#source === 'bytes') return false;
    if (this.#source.from === 'json') this.#bytes = 0;
    if (end) meter.done = true;
    else if (!isObject(event)) meter.fault = protocolFault('an answer that is no JSON object');
    else {
      const { sound, quantities, fault, upstreamId, done } = this.#source.read(event);
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

/** The first byte of an HTML page or a JSON object, with which no audio file begins. */
const words: ReadonlySet<number | undefined> = new Set([0x3c, 0x7b]);

/** The members that Tollgate serves itself, and those that every vendor gets. */
export const speechMembers = ['model', 'input', 'response_format', 'stream_format'];

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

function tokens({ input = 0, audio_output: audio = 0, output = 0 }: Quantities = {}): object {
  return {
    input_tokens: input,
    output_tokens: audio + output,
    total_tokens: input + audio + output,
  };
}

/**
 * The header of a WAV file of 16-bit samples on one channel. The length is not known yet, so that
 * the header holds the greatest length.
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

/**
 * The names of OpenAI's voices (platform.openai.com/docs/guides/text-to-speech, 2026-08): another
 * vendor's model uses its own default voice for them.
 */
const openaiVoices = new Set(
  'alloy ash ballad coral echo fable nova onyx sage shimmer verse marin cedar'.split(' '),
);

/** The client's voice, or the vendor's default for a voice of OpenAI's. */
export const voiceOf = (call: VendorCall, usual: string): string => {
  const { voice } = speechRequestOf(call);
  return openaiVoices.has(voice) ? usual : voice;
};

/**
 * The format that the vendor makes: the client's, or the vendor's default. Throws the Refusal that
 * lists the formats.
 */
export function voiceFormat(
  call: VendorCall,
  made: readonly [SpeechFormat, ...SpeechFormat[]],
): SpeechFormat {
  const { format } = speechRequestOf(call);
  if (format === undefined) return made[0];
  if (made.includes(format)) return format;
  refuse('invalid_value', {
    param: 'response_format',
    why: `'${format}' is not one of ${made.join(', ')} for the model '${call.publicModel}'.`,
  });
}

/** The fault for a reply with a good status that holds no audio. */
export function noVoiceFault(reply: Buffer, faults: readonly FaultRule[]): VendorAnswer | Fault {
  const body = parse(reply.toString('utf8'));
  return (
    (isObject(body) ? faultWithin(body, faults) : undefined) ??
    protocolFault(`an answer that is no sound: ${reply.toString('utf8', 0, 120)}`)
  );
}

/** The source of a vendor that answers with bytes: JSON in their place is an error. */
export function soundSource(contentType: string, faults: readonly FaultRule[]): VoiceSource {
  if (!/^(?:application\/json|text\/)/.test(contentType)) return 'bytes';
  return {
    from: 'json',
    read: (event) => ({
      fault: faultWithin(event, faults) ?? protocolFault('an answer that is no sound'),
    }),
  };
}
