import {
  type Answer,
  type Call,
  isFault,
  type StreamMeter,
  type StreamTranslator,
} from '../adapter.ts';
import type { Fault } from '../../base/fault.ts';
import { listenOf } from '../sound-wish.ts';
import { isObject, listOf, numberOf, objectOf, parse, textOf, utf8 } from './json.ts';
import { faultWithin, protocolFault } from './openai-chat-fault.ts';
import type { FaultRule } from './openai-chat-quirks.ts';
import { SseFrames } from './sse-frames.ts';
import { usageOf } from './transcript.ts';
import { transcriptQuantities } from './transcript-usage.ts';

const event = (value: unknown): string =>
  Buffer.from(`data: ${JSON.stringify(value)}\n\n`, 'utf8').toString('latin1');

export const newMeter = (): StreamMeter => ({
  quantities: undefined,
  outputBytes: 0,
  finished: false,
  done: false,
  fault: undefined,
  upstreamId: undefined,
});

/** OpenAI's events (wire-formats §1.5), as they are. */
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
    const said = parse(utf8(data));
    if (!isObject(said)) meter.fault = protocolFault('an event that is no JSON');
    else meter.fault = faultWithin(said, { faults: this.#faults });
    if (meter.fault !== undefined || !isObject(said)) return false;
    this.#out += `data: ${data}\n\n`;
    meter.outputBytes += Buffer.byteLength(textOf(said['delta']) ?? '');
    if (said['type'] === 'transcript.text.segment')
      meter.outputBytes += Buffer.byteLength(textOf(said['text']) ?? '');
    if (said['type'] !== 'transcript.text.done') return true;
    meter.finished = true;
    meter.quantities = transcriptQuantities(said);
    meter.outputBytes ||= Buffer.byteLength(textOf(said['text']) ?? '');
    return true;
  }
}

const answerBytesMax = 32 * 1024 * 1024;

/**
 * For models that answer as a whole: what a client that wants events gets of it is one piece, or
 * one for each part with its speaker.
 */
export class TranscriptInOne implements StreamTranslator {
  readonly meter = newMeter();
  readonly #read: (reply: Buffer) => Answer | Fault;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;

  /** `read` answers with JSON: that of `json` or `diarized_json`. */
  constructor(read: (reply: Buffer) => Answer | Fault) {
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
    const body = objectOf(parse(answer.body.toString('utf8'))) ?? {};
    const text = textOf(body['text']) ?? '';
    meter.quantities = answer.quantities;
    meter.upstreamId = answer.upstreamId;
    meter.finished = true;
    meter.outputBytes = Buffer.byteLength(text);
    const parts = listOf(body['segments']).filter(isObject);
    const spoken = parts.filter(
      (part) => textOf(part['speaker']) !== undefined && numberOf(part['start']) !== undefined,
    );
    const deltas =
      spoken.length > 0
        ? spoken
        : text === ''
          ? []
          : [{ type: 'transcript.text.delta', delta: text }];
    return [...deltas, { type: 'transcript.text.done', text, ...usageOf(answer.quantities) }]
      .map(event)
      .join('');
  }

  cutShort(): string {
    return '';
  }
}

/** The call that asks for what `TranscriptInOne` reads. */
export function inJson(call: Call): Call {
  const wish = listenOf(call);
  return {
    ...call,
    listen: { ...wish, returns: wish.returns === 'diarized_json' ? 'diarized_json' : 'json' },
  };
}
