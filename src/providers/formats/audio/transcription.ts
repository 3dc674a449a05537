import type { Fault } from '../../../base/fault.ts';
import {
  jsonText,
  isObject,
  numberOf,
  objectOf,
  parse,
  textOf,
  utf8,
  type JsonObject,
  type Documented,
  objectsOf,
} from '../../../base/json.ts';
import type { Quantities } from '../../../base/quantities.ts';
import { refuse } from '../../../base/refusal.ts';
import {
  type VendorAnswer,
  type VendorCall,
  type StreamTranslator,
  type VendorRequest,
  type AudioAdapter,
  transcriptionRequestOf,
  newMeter,
} from '../../adapter.ts';
import type { TranscriptionRequest, TranscriptFormat } from '../../media-request.ts';
import { SseFrames } from '../../stream/frames.ts';
import { faultReader, faultWithin, protocolFault, isFault, type FaultRule } from '../fault.ts';
import { noObject } from '../reply.ts';
import { tokenUsageOf, transcriptQuantities, answerOf, type Transcript } from './transcript.ts';

/** An event (developers.openai.com/api/reference/audio, 2026-08). */
interface TranscriptTextEvent {
  readonly type: string;
  readonly delta: string;
  readonly text: string;
}

/**
 * An answer in the format `json` or `diarized_json` (developers.openai.com/api/reference/audio,
 * 2026-08).
 */
interface DiarizedTranscript {
  readonly text: string;
  readonly segments: readonly { readonly speaker: string; readonly start: number }[];
}

const event = (value: unknown): string => `data: ${jsonText(value)}\n\n`;

/**
 * A stream of OpenAI's events (developers.openai.com/api/reference/audio, 2026-08), passed on
 * unchanged.
 */
export class TranscriptEvents implements StreamTranslator {
  readonly meter = newMeter();
  readonly #frames = new SseFrames((data) => this.#event(data));
  readonly #faults: readonly FaultRule[];
  #out = '';

  constructor(faults: readonly FaultRule[]) {
    this.#faults = faults;
  }

  push(piece: Buffer): string {
    const problem = this.#frames.push(piece);
    if (problem !== undefined) this.meter.fault = protocolFault(problem);
    return this.#taken();
  }

  end(): string {
    const rest = this.#frames.end();
    if (!this.meter.finished)
      this.meter.fault ??= protocolFault(
        `a stream that ended without its text${rest && `: ${rest.slice(0, 120)}`}`,
      );
    return this.#taken();
  }

  cutShort(): string {
    return '';
  }

  #taken(): string {
    const out = this.#out;
    this.#out = '';
    return out;
  }

  #event(data: string): boolean {
    const { meter } = this;
    if (data === '[DONE]') {
      meter.done = true;
      return false;
    }
    const event: Documented<TranscriptTextEvent> | undefined = objectOf(parse(utf8(data)));
    if (event === undefined) meter.fault = protocolFault('an event that is no JSON');
    else meter.fault = faultWithin(event, this.#faults);
    if (meter.fault !== undefined || event === undefined) return false;
    this.#out += `data: ${data}\n\n`;
    meter.outputBytes += Buffer.byteLength(textOf(event.delta) ?? '');
    if (event.type === 'transcript.text.segment')
      meter.outputBytes += Buffer.byteLength(textOf(event.text) ?? '');
    if (event.type !== 'transcript.text.done') return true;
    meter.finished = true;
    meter.quantities = transcriptQuantities(event);
    meter.outputBytes ||= Buffer.byteLength(textOf(event.text) ?? '');
    return true;
  }
}

const answerBytesMax = 32 * 1024 * 1024;

/**
 * A stream made of a whole answer, for models that do not stream: one delta, or one for each part
 * with its speaker.
 */
export class TranscriptInOne implements StreamTranslator {
  readonly meter = newMeter();
  readonly #read: (reply: Buffer) => VendorAnswer | Fault;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;

  /** `read` returns an answer in the format `json` or `diarized_json`. */
  constructor(read: (reply: Buffer) => VendorAnswer | Fault) {
    this.#read = read;
  }

  push(piece: Buffer): string {
    this.#bytes += piece.length;
    if (this.#bytes > answerBytesMax)
      this.meter.fault = protocolFault('an answer that is too long');
    else this.#pieces.push(piece);
    return '';
  }

  end(): string {
    const { meter } = this;
    const answer = this.#read(Buffer.concat(this.#pieces));
    if (isFault(answer)) {
      meter.fault = answer;
      return '';
    }
    const body: Documented<DiarizedTranscript> =
      objectOf(parse(answer.body.toString('utf8'))) ?? {};
    const text = textOf(body.text) ?? '';
    meter.quantities = answer.quantities;
    meter.upstreamId = answer.upstreamId;
    meter.finished = true;
    meter.outputBytes = Buffer.byteLength(text);
    const parts = objectsOf(body.segments);
    const spoken = parts.filter(
      (part) => textOf(part.speaker) !== undefined && numberOf(part.start) !== undefined,
    );
    const deltas =
      spoken.length > 0
        ? spoken
        : text === ''
          ? []
          : [{ type: 'transcript.text.delta', delta: text }];
    return [...deltas, { type: 'transcript.text.done', text, ...tokenUsageOf(answer.quantities) }]
      .map(event)
      .join('');
  }

  cutShort(): string {
    return '';
  }
}

/** The call in the format that `TranscriptInOne` reads. */
export function inJson(call: VendorCall): VendorCall {
  const request = transcriptionRequestOf(call);
  return {
    ...call,
    transcription: {
      ...request,
      returns: request.returns === 'diarized_json' ? 'diarized_json' : 'json',
    },
  };
}

/** The transcript and the usage of a vendor's answer. */
export interface TranscriptionResult {
  readonly transcript: Transcript;
  readonly quantities?: Quantities | undefined;
  readonly upstreamId?: string | undefined;
}

/** A vendor with its own format for transcripts. */
interface TranscriptionApi {
  /** The formats that can be made of its answers. */
  readonly formats: readonly TranscriptFormat[];
  readonly ask: (call: VendorCall, request: TranscriptionRequest) => VendorRequest;
  /** Undefined: this is no answer. */
  readonly read: (answer: JsonObject, call: VendorCall) => TranscriptionResult | undefined;
  readonly faults?: readonly FaultRule[];
}

/** The members that Tollgate serves itself, and those that every vendor gets. */
export const transcriptMembers = [
  'model',
  'stream',
  'response_format',
  'timestamp_granularities[]',
];

export const textFormats: readonly TranscriptFormat[] = ['json', 'text'];
const timedFormats: readonly TranscriptFormat[] = [...textFormats, 'srt', 'verbose_json', 'vtt'];
export const speakerFormats: readonly TranscriptFormat[] = [...timedFormats, 'diarized_json'];

/** An adapter for vendors without OpenAI's formats: Tollgate writes all of them itself. */
export function transcriptionAdapter({
  formats,
  ask,
  read,
  faults = [],
}: TranscriptionApi): AudioAdapter {
  const answer = (reply: Buffer, call: VendorCall): VendorAnswer | Fault => {
    const body = parse(reply.toString('utf8'));
    if (!isObject(body)) return noObject(reply);
    const heard = read(body, call);
    if (heard === undefined)
      return faultWithin(body, faults) ?? protocolFault('an answer without a text');
    return answerOf(heard.transcript, call, heard.quantities, heard.upstreamId);
  };
  return {
    ask(call) {
      const request = transcriptionRequestOf(call);
      if (!formats.includes(request.returns))
        refuse('invalid_value', {
          param: 'response_format',
          why: `'${request.returns}' is not one of ${formats.join(', ')} for the model '${call.publicModel}'.`,
        });
      return ask(call, request);
    },
    read: (reply, _, call) => answer(reply, call),
    stream: (call) => new TranscriptInOne((reply) => answer(reply, inJson(call))),
    fault: faultReader(faults),
  };
}
