import type { Fault } from '../../base/fault.ts';
import { jsonText } from '../../base/json-edit.ts';
import type { Quantities } from '../../base/quantities.ts';
import { refuse } from '../../base/refusal.ts';
import type { Answer, Ask, Call, SoundAdapter } from '../adapter.ts';
import { listenOf, type ListenWish, type ScriptFormat } from '../sound-wish.ts';
import {
  isObject,
  type JsonObject,
  listOf,
  numberOf,
  objectOf,
  parse,
  rawMembers,
  rawText,
  textOf,
} from './json.ts';
import { formWith } from './multipart-body.ts';
import { faultOf, faultWithin, protocolFault } from './openai-chat-fault.ts';
import type { FaultRule } from './openai-chat-quirks.ts';
import { answerOf, type Said, type Transcript, usageOf } from './transcript.ts';
import { inJson, TranscriptEvents, TranscriptInOne } from './transcript-stream.ts';
import { transcriptQuantities } from './transcript-usage.ts';

/** How a vendor departs from OpenAI's transcriptions. Each entry cites its page and date. */
export interface TranscriptionQuirks {
  readonly path?: string;
  /**
   * The formats that it writes for a model; beside them there is `text`, which is made from `json`.
   */
  readonly writes?: (model: string) => readonly ScriptFormat[];
  /** It tells when words were said: captions and segments are made from what it answers to this. */
  readonly timedBy?: 'verbose_json' | 'json';
  /** Who can be asked for events. */
  readonly streams?: (model: string) => boolean;
  /** The fields that it is sent; the client's others are dropped. Undefined: all. */
  readonly fields?: (wish: ListenWish) => readonly (readonly [string, string])[];
  /** It charges each second that has begun, also where its answer does not say so. */
  readonly wholeSeconds?: true;
  readonly faults?: readonly FaultRule[];
}

const everything: readonly ScriptFormat[] = ['json', 'text', 'srt', 'verbose_json', 'vtt'];
const timed: readonly ScriptFormat[] = ['srt', 'vtt', 'verbose_json'];

/**
 * The wire format of OpenAI's `/audio/transcriptions` and `/audio/translations` (wire-formats
 * §1.5): a form in, JSON or text out.
 */
export function openaiTranscriptions(quirks: TranscriptionQuirks = {}): SoundAdapter {
  const { faults = [], streams = () => false } = quirks;
  const fault: SoundAdapter['fault'] = (status, headers, reply) =>
    faultOf(status, headers, reply, { faults });
  return {
    ask: (call) => ask(call, quirks),
    read: (reply, contentType, call) => read(reply, contentType, call, quirks),
    stream: (call, contentType) =>
      streams(call.upstreamModel) && !contentType.startsWith('application/json')
        ? new TranscriptEvents(faults)
        : new TranscriptInOne((reply) => read(reply, 'application/json', inJson(call), quirks)),
    fault,
  };
}

/**
 * What the vendor is asked to write, so that what the client wants is written or can be made of it.
 */
function askedFormat(
  call: Call,
  { writes = () => everything, timedBy }: TranscriptionQuirks,
): ScriptFormat {
  const { returns } = listenOf(call);
  const written = writes(call.upstreamModel);
  const streamed = call.stream && returns !== 'diarized_json';
  // The count comes with JSON alone.
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

function ask(call: Call, quirks: TranscriptionQuirks): Ask {
  const { path = '/audio/transcriptions', fields, streams = () => false } = quirks;
  const wish = listenOf(call);
  const format = askedFormat(call, quirks);
  const said = fields?.(wish) ?? withFormat(wish.fields, format);
  const events: readonly (readonly [string, string])[] =
    call.stream && streams(call.upstreamModel) ? [['stream', 'true']] : [];
  return formWith(path, call, [['model', call.upstreamModel], ...said, ...events], wish);
}

/** The client's fields; the format among them only where it has to be said. */
function withFormat(
  fields: readonly (readonly [string, string])[],
  format: ScriptFormat,
): readonly (readonly [string, string])[] {
  const named = fields.some(([name]) => name === 'response_format');
  if (!named) return format === 'json' ? fields : [...fields, ['response_format', format]];
  return fields.map(([name, value]) => [name, name === 'response_format' ? format : value]);
}

function read(
  reply: Buffer,
  contentType: string,
  call: Call,
  quirks: TranscriptionQuirks,
): Answer | Fault {
  const wish = listenOf(call);
  const text = reply.toString('utf8');
  const asked = askedFormat(call, quirks);
  if (asked === 'srt' || asked === 'vtt') {
    if (/html|json/.test(contentType)) return readJson(reply, text, call, quirks);
    const quantities = quirks.wholeSeconds ? { second: Math.ceil(wish.seconds) } : undefined;
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
  call: Call,
  quirks: TranscriptionQuirks,
): Answer | Fault {
  const body = parse(text);
  if (!isObject(body))
    return protocolFault(`an answer that is no JSON object: ${text.slice(0, 120)}`);
  const fault = faultWithin(body, { faults: quirks.faults ?? [] });
  if (fault !== undefined) return fault;
  const said = textOf(body['text']);
  if (said === undefined) return protocolFault('an answer without a text');
  const { returns } = listenOf(call);
  const quantities = transcriptQuantities(body);
  const written =
    (quirks.writes?.(call.upstreamModel) ?? everything).includes(returns) || returns === 'json';
  if (returns === 'text' || !written)
    return answerOf(transcriptOf(body, said), call, quantities, textOf(body['id']));
  return {
    body: asOurs(reply, call, body, quantities),
    quantities,
    upstreamId: textOf(body['id']),
    outputText: quantities === undefined ? said : '',
  };
}

/**
 * The vendor's own bytes, under the name that the client knows, without what is the vendor's alone,
 * and its usage in OpenAI's words.
 */
function asOurs(
  reply: Buffer,
  { publicModel }: Call,
  body: JsonObject,
  quantities: Quantities | undefined,
): Buffer {
  const own = ['x_groq', 'id', 'request_id', 'model'].some((name) => body[name] !== undefined);
  const odd = body['usage'] !== undefined && objectOf(body['usage'])?.['type'] === undefined;
  if (!own && !odd) return reply;
  const top = rawMembers(reply.toString('latin1').trim());
  for (const name of ['x_groq', 'id', 'request_id']) top.delete(name);
  if (top.has('model')) top.set('model', jsonText(publicModel));
  const { usage } = usageOf(quantities);
  if (odd && usage === undefined) top.delete('usage');
  else if (odd) top.set('usage', JSON.stringify(usage));
  return Buffer.from(rawText(top), 'latin1');
}

export function transcriptOf(body: JsonObject, text: string): Transcript {
  return {
    text,
    language: textOf(body['language']),
    seconds: numberOf(body['duration']),
    segments: saidIn(body['segments']),
    words: saidIn(body['words']),
  };
}

export function saidIn(list: unknown): readonly Said[] | undefined {
  if (!Array.isArray(list)) return undefined;
  return listOf(list).flatMap((item) => {
    if (!isObject(item)) return [];
    const text =
      textOf(item['text']) ??
      textOf(item['punctuated_word']) ??
      textOf(item['word']) ??
      textOf(item['transcript']);
    const [start, end] = [numberOf(item['start']), numberOf(item['end'])];
    const speaker = item['speaker'] ?? item['speaker_id'];
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
