import type { Fault } from '../../../base/fault.ts';
import {
  jsonText,
  editJsonBytes,
  type JsonChange,
  type JsonObject,
  numberOf,
  objectOf,
  parse,
  rawMembers,
  rawText,
  textOf,
  countOf,
  type Documented,
  objectsOf,
} from '../../../base/json.ts';
import type { Quantities } from '../../../base/quantities.ts';
import { refuse } from '../../../base/refusal.ts';
import {
  type VendorAnswer,
  type VendorRequest,
  type VendorCall,
  type AudioAdapter,
  transcriptionRequestOf,
  speechRequestOf,
} from '../../adapter.ts';
import type { TranscriptionRequest, TranscriptFormat, SpeechFormat } from '../../media-request.ts';
import { notSent, setAmong } from '../../not-sent.ts';
import { faultReader, faultWithin, protocolFault, type FaultRule } from '../fault.ts';
import { recordingRequest } from '../multipart.ts';
import { jsonHeaders } from '../json-request.ts';
import { SpeechStream, type SpeechEvent, voiceFormat, noVoiceFault, voiceOf } from './speech.ts';
import {
  answerOf,
  type TranscriptSegment,
  type Transcript,
  usageOf,
  transcriptQuantities,
} from './transcript.ts';
import {
  inJson,
  TranscriptEvents,
  TranscriptInOne,
  transcriptionAdapter,
  transcriptMembers,
  textFormats,
} from './transcription.ts';

/**
 * An answer in JSON: the verbose one has times (developers.openai.com/api/reference/audio,
 * 2026-08).
 */
export interface OpenAiTranscript {
  readonly id: string;
  readonly text: string;
  readonly language: string;
  readonly duration: number;
  readonly segments: readonly TimedText[];
  readonly words: readonly TimedText[];
  readonly usage: { readonly type: string };
}

/** A part of a transcript: OpenAI's (same section), and other vendors' names for it. */
export interface TimedText {
  readonly text: string;
  readonly word: string;
  readonly punctuated_word: string;
  readonly transcript: string;
  readonly start: number;
  readonly end: number;
  readonly speaker: string | number;
  readonly speaker_id: string | number;
}

/**
 * An event of OpenAI's, or an answer of Mistral's (developers.openai.com/api/reference/audio,
 * 2026-08).
 */
interface OpenAiSpeechEvent {
  readonly type: string;
  readonly audio: string;
  readonly audio_data: string;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
}

/** How a vendor departs from OpenAI's transcriptions. Each entry cites its page and date. */
export interface TranscriptionQuirks {
  readonly path?: string;
  /**
   * The formats that the vendor writes for a model. `text` is always offered: it is made from
   * `json`.
   */
  readonly writes?: (model: string) => readonly TranscriptFormat[];
  /** The format in which the vendor reports times: captions and segments are made from it. */
  readonly timedBy?: 'verbose_json' | 'json';
  /** The models that can answer with events. */
  readonly streams?: (model: string) => boolean;
  /** The fields that the vendor gets; the client's others are dropped. Undefined: all. */
  readonly fields?: (request: TranscriptionRequest) => readonly (readonly [string, string])[];
  /** The vendor charges each second that has begun, even if its answer does not say so. */
  readonly wholeSeconds?: true;
  readonly faults?: readonly FaultRule[];
}

const everything: readonly TranscriptFormat[] = ['json', 'text', 'srt', 'verbose_json', 'vtt'];
const timed: readonly TranscriptFormat[] = ['srt', 'vtt', 'verbose_json'];

/**
 * The wire format of OpenAI's `/audio/transcriptions` and `/audio/translations`
 * (developers.openai.com/api/reference/audio, 2026-08): a form in, JSON or text out.
 */
export function openaiTranscriptions(quirks: TranscriptionQuirks = {}): AudioAdapter {
  const { faults = [], streams = () => false } = quirks;
  return {
    ask: (call) => ask(call, quirks),
    read: (reply, contentType, call) => read(reply, contentType, call, quirks),
    stream: (call, contentType) =>
      streams(call.upstreamModel) && !contentType.startsWith('application/json')
        ? new TranscriptEvents(faults)
        : new TranscriptInOne((reply) => read(reply, 'application/json', inJson(call), quirks)),
    fault: faultReader(faults),
  };
}

/**
 * The format that the vendor gets in the request: the client's own, or one from which it can be
 * made. Throws the Refusal of a format that cannot be made.
 */
function askedFormat(
  call: VendorCall,
  { writes = () => everything, timedBy }: TranscriptionQuirks,
): TranscriptFormat {
  const { returns } = transcriptionRequestOf(call);
  const written = writes(call.upstreamModel);
  const streamed = call.stream && returns !== 'diarized_json';
  // Only JSON answers report the usage.
  if (returns === 'text' || returns === 'json' || streamed) return 'json';
  if (written.includes(returns)) return returns;
  const made =
    timedBy === undefined
      ? []
      : [...timed, ...(timedBy === 'json' ? (['diarized_json'] as const) : [])];
  if (timedBy !== undefined && made.includes(returns)) return timedBy;
  const allowed = new Set<string>(['json', 'text', ...written, ...made]);
  refuse('invalid_value', {
    param: 'response_format',
    why: `'${returns}' is not one of ${[...allowed].join(', ')} for the model '${call.publicModel}'.`,
  });
}

function ask(call: VendorCall, quirks: TranscriptionQuirks): VendorRequest {
  const { path = '/audio/transcriptions', fields, streams = () => false } = quirks;
  const request = transcriptionRequestOf(call);
  const format = askedFormat(call, quirks);
  const members = fields?.(request) ?? withFormat(request.fields, format);
  const events: readonly (readonly [string, string])[] =
    call.stream && streams(call.upstreamModel) ? [['stream', 'true']] : [];
  const sent = members.map(([name]) => name);
  const read = fields === undefined ? ['model', 'stream', 'response_format'] : transcriptMembers;
  return {
    ...recordingRequest(
      path,
      call,
      [['model', call.upstreamModel], ...members, ...events],
      request,
    ),
    dropped: notSent(call, read, sent),
  };
}

/**
 * The client's fields with `response_format`, which is left out where JSON is the default. Times
 * are refused beside another format than that of the client, who gets events.
 */
function withFormat(
  all: readonly (readonly [string, string])[],
  format: TranscriptFormat,
): readonly (readonly [string, string])[] {
  const fields =
    format === 'json' ? all.filter(([name]) => name !== 'timestamp_granularities[]') : all;
  const named = fields.some(([name]) => name === 'response_format');
  if (!named) return format === 'json' ? fields : [...fields, ['response_format', format]];
  return fields.map(([name, value]) => [name, name === 'response_format' ? format : value]);
}

function read(
  reply: Buffer,
  contentType: string,
  call: VendorCall,
  quirks: TranscriptionQuirks,
): VendorAnswer | Fault {
  const request = transcriptionRequestOf(call);
  const text = reply.toString('utf8');
  const format = askedFormat(call, quirks);
  if (format === 'srt' || format === 'vtt') {
    if (/html|json/.test(contentType)) return readJson(reply, text, call, quirks);
    const quantities = quirks.wholeSeconds ? { second: Math.ceil(request.seconds) } : undefined;
    return {
      body: reply,
      type: 'text/plain; charset=utf-8',
      quantities,
      upstreamId: undefined,
      outputText: text,
    };
  }
  return readJson(reply, text, call, quirks);
}

function readJson(
  reply: Buffer,
  text: string,
  call: VendorCall,
  quirks: TranscriptionQuirks,
): VendorAnswer | Fault {
  const body: Documented<OpenAiTranscript> | undefined = objectOf(parse(text));
  if (body === undefined)
    return protocolFault(`an answer that is no JSON object: ${text.slice(0, 120)}`);
  const fault = faultWithin(body, quirks.faults ?? []);
  if (fault !== undefined) return fault;
  const transcript = textOf(body.text);
  if (transcript === undefined) return protocolFault('an answer without a text');
  const { returns } = transcriptionRequestOf(call);
  const quantities = transcriptQuantities(body);
  const written =
    (quirks.writes?.(call.upstreamModel) ?? everything).includes(returns) || returns === 'json';
  if (returns === 'text' || !written)
    return answerOf(transcriptOf(body, transcript), call, quantities, textOf(body.id));
  return {
    body: asOurs(reply, call, body, quantities),
    quantities,
    upstreamId: textOf(body.id),
    outputText: quantities === undefined ? transcript : '',
  };
}

/**
 * The vendor's bytes with the public model name, without members of the vendor's own, and with
 * usage in OpenAI's format.
 */
function asOurs(
  reply: Buffer,
  call: VendorCall,
  body: JsonObject,
  quantities: Quantities | undefined,
): Buffer {
  const { returns } = transcriptionRequestOf(call);
  const own = ['x_groq', 'id', 'request_id', 'model'].some((name) => body[name] !== undefined);
  const { usage: told }: Documented<OpenAiTranscript> = body;
  const kind = objectOf(told)?.type;
  const odd =
    told !== undefined &&
    (kind === undefined || (returns === 'verbose_json' && kind !== 'duration'));
  if (!own && !odd) return reply;
  const top = rawMembers(reply.toString('latin1').trim());
  for (const name of ['x_groq', 'id', 'request_id']) top.delete(name);
  if (top.has('model')) top.set('model', jsonText(call.publicModel));
  const { usage } = usageOf(quantities, returns);
  if (odd && usage === undefined) top.delete('usage');
  else if (odd) top.set('usage', JSON.stringify(usage));
  return Buffer.from(rawText(top), 'latin1');
}

export function transcriptOf(body: Documented<OpenAiTranscript>, text: string): Transcript {
  return {
    text,
    language: textOf(body.language),
    seconds: numberOf(body.duration),
    segments: saidIn(body.segments),
    words: saidIn(body.words),
  };
}

export function saidIn(list: unknown): readonly TranscriptSegment[] | undefined {
  if (!Array.isArray(list)) return undefined;
  return objectsOf(list).flatMap((item: Documented<TimedText>) => {
    const text =
      textOf(item.text) ??
      textOf(item.punctuated_word) ??
      textOf(item.word) ??
      textOf(item.transcript);
    const [start, end] = [numberOf(item.start), numberOf(item.end)];
    const speaker = item.speaker ?? item.speaker_id;
    if (text === undefined || start === undefined || end === undefined) return [];
    return [
      {
        text,
        start,
        end,
        speaker: typeof speaker === 'number' ? String(speaker) : textOf(speaker),
      },
    ];
  });
}

/**
 * openrouter.ai/docs/features/multimodal/audio, 2026-08, and recorded: the request holds the
 * recording in base64 in JSON, the answer a text and its seconds.
 */
export const openrouterTranscriptions = (faults: readonly FaultRule[]): AudioAdapter =>
  transcriptionAdapter({
    formats: textFormats,
    faults,
    ask: (call, { file, format, language, temperature }) => {
      const beside = {
        ...(language === undefined ? {} : { language }),
        ...(temperature === undefined ? {} : { temperature }),
      };
      const members = Object.entries(beside).map(
        ([name, value]) => `,"${name}":${JSON.stringify(value)}`,
      );
      return {
        path: '/audio/transcriptions',
        headers: jsonHeaders,
        body: Buffer.from(
          `{"model":${jsonText(call.upstreamModel)}${members.join('')},"input_audio":{"format":"${format}","data":"`,
        ),
        rest: [{ file, as: 'base64' }, Buffer.from('"}}')],
        dropped: notSent(call, transcriptMembers, ['language', 'temperature']),
      };
    },
    read: (answer: Documented<OpenAiTranscript>) => {
      const text = textOf(answer.text);
      return text === undefined
        ? undefined
        : { transcript: { text }, quantities: transcriptQuantities(answer) };
    },
  });

/** How a vendor departs from OpenAI's speech. Each entry cites its page and date. */
export interface SpeechQuirks {
  /** The formats that the vendor makes; the first is its default. */
  readonly makes?: readonly [SpeechFormat, ...SpeechFormat[]];
  /** Models that can send events. They are requested, because events report the usage. */
  readonly counts?: (model: string) => boolean;
  /** The voice for clients that name one of OpenAI's. */
  readonly usualVoice?: string;
  readonly drop?: readonly string[];
  readonly faults?: readonly FaultRule[];
}

const all = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const;

/**
 * The wire format of OpenAI's `/audio/speech` (developers.openai.com/api/reference/audio, 2026-08):
 * JSON in; bytes out, or events with bytes in base64.
 */
export function openaiSpeech(quirks: SpeechQuirks = {}): AudioAdapter {
  const { makes = all, faults = [] } = quirks;
  return {
    ask: (call) => askSpeech(call, quirks),
    read: (reply) => noVoiceFault(reply, faults),
    stream(call, contentType) {
      const read = (event: Documented<OpenAiSpeechEvent>): SpeechEvent => readEvent(event, faults);
      const from = contentType.startsWith('text/event-stream') ? 'events' : 'json';
      const source = /^(text\/event-stream|application\/json)/.test(contentType)
        ? ({ from, read } as const)
        : 'bytes';
      return new SpeechStream(call, voiceFormat(call, makes), source);
    },
    fault: faultReader(faults),
  };
}

function askSpeech(
  call: VendorCall,
  { makes = all, counts = () => false, usualVoice, drop = [] }: SpeechQuirks,
): VendorRequest {
  const { body, bytes, skeleton, upstreamModel } = call;
  const { stream_format: streamFormat }: Documented<{ readonly stream_format?: string }> = body;
  const format = voiceFormat(call, makes);
  const changes: JsonChange[] = [{ path: ['model'], json: jsonText(upstreamModel) }];
  if (usualVoice !== undefined)
    changes.push({ path: ['voice'], json: jsonText(voiceOf(call, usualVoice)) });
  if (speechRequestOf(call).format === undefined && format !== 'mp3')
    changes.push({ path: ['response_format'], json: jsonText(format) });
  if (counts(upstreamModel)) changes.push({ path: ['stream_format'], json: '"sse"' });
  else if (streamFormat !== undefined) changes.push({ path: ['stream_format'] });
  for (const member of drop) if (body[member] !== undefined) changes.push({ path: [member] });
  return {
    path: '/audio/speech',
    headers: jsonHeaders,
    body: editJsonBytes(bytes, changes, skeleton),
    dropped: setAmong(call, drop),
  };
}

/** `audio`: OpenAI's events; `audio_data`: Mistral's whole answer (recorded 2026-08). */
function readEvent(
  event: Documented<OpenAiSpeechEvent>,
  faults: readonly FaultRule[],
): SpeechEvent {
  const fault = faultWithin(event, faults);
  if (fault !== undefined) return { fault };
  const sound = textOf(event.audio) ?? textOf(event.audio_data);
  const usage = objectOf(event.usage);
  const [input, output] = [countOf(usage?.input_tokens), countOf(usage?.output_tokens)];
  return {
    sound: sound === undefined ? undefined : Buffer.from(sound, 'base64'),
    quantities:
      input === undefined && output === undefined
        ? undefined
        : { input: input ?? 0, audio_output: output ?? 0 },
    done: event.type === 'speech.audio.done',
  };
}
