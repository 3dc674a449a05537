import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Dialect } from '../dialect.ts';
import { type Once, withoutScenarios } from '../scenario.ts';
import { type Form, readForm } from '../media/form.ts';
import { countTokens } from '../tokens.ts';
import { transcriptOf, type Transcript, sentences } from './transcript.ts';
import { formComplaint, type TranscriptionRules } from './transcription-rules.ts';
import { complain, play, type SoundScenario, type SoundReply } from './play.ts';
import { secondsUsage, streamed, tokensOf, written } from './transcription-write.ts';

/**
 * One recording for a vendor with OpenAI's format: checks the form, then the audio, then plays the
 * scenario.
 */
export async function transcribe(
  incoming: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  dialect: Dialect,
  rules: TranscriptionRules,
  deployment: string | undefined,
  once: Once,
): Promise<void> {
  const form = readForm(incoming.headers, body);
  if (form === undefined)
    return complain(response, dialect, { message: 'Could not parse multipart form' });
  const named = deployment ?? form.parts.find(([name]) => name === 'model')?.[1] ?? '';
  const model = withoutScenarios(named);
  const complaint = formComplaint(form, model, rules, rules.usage === 'mistral');
  if (complaint !== undefined) return complain(response, dialect, complaint, model);
  const transcript = transcriptOf(form.files.at(-1)?.bytes ?? Buffer.alloc(0));
  if (transcript === undefined)
    return complain(response, dialect, {
      message:
        "Invalid file format. Supported formats: ['flac', 'm4a', 'mp3', 'mp4', 'mpeg', 'mpga', 'oga', 'ogg', 'wav', 'webm']",
    });
  if (transcript.seconds < 0.1)
    return complain(response, dialect, {
      message: 'Audio file is too short. Minimum audio length is 0.1 seconds.',
      code: 'audio_too_short',
      param: 'file',
    });
  await play(response, once, dialect, named, transcript.text, (scenario) =>
    show(form, model, rules, transcript, scenario),
  );
}

function show(
  form: Form,
  model: string,
  rules: TranscriptionRules,
  whole: Transcript,
  { silent, empty }: SoundScenario,
): SoundReply {
  const transcript = empty ? { ...whole, text: '' } : whole;
  const of = (name: string): string | undefined =>
    form.parts.find(([field]) => field === name)?.[1];
  if (rules.usage === 'mistral') return mistral(form, model, transcript, silent);
  const reported = model.startsWith('gpt-') ? tokensOf(transcript) : secondsUsage(transcript);
  const usage = silent || rules.usage === 'none' ? undefined : reported;
  if (of('stream') === 'true' && rules.streams?.(model)) return streamed(transcript, usage);
  const granularities = form.parts
    .filter(([name]) => name === 'timestamp_granularities[]')
    .map(([, value]) => value);
  return written(transcript, of('response_format') ?? 'json', usage, granularities);
}

/** As recorded: segments only on request. */
function mistral(form: Form, model: string, transcript: Transcript, silent: boolean): SoundReply {
  const timestamps = form.parts.some(([name]) => name === 'timestamp_granularities[]');
  const diarized = form.parts.some(([name, value]) => name === 'diarize' && value === 'true');
  const segments = sentences(transcript).map(({ text, start, end }, i) => ({
    type: 'transcription_segment',
    text,
    start,
    end,
    ...(diarized ? { speaker_id: `speaker_${(i % 2) + 1}` } : {}),
  }));
  const audio = Math.ceil(transcript.seconds) * 125;
  const output = countTokens(transcript.text);
  const usage = {
    prompt_audio_seconds: Math.ceil(transcript.seconds),
    prompt_tokens: 5,
    total_tokens: 5 + audio + output,
    completion_tokens: output,
    prompt_tokens_details: {
      cached_tokens: 0,
      audio_tokens: audio,
    },
  };
  const whole = {
    model,
    text: transcript.text,
    language: null,
    segments: timestamps ? segments : [],
    ...(silent ? {} : { usage }),
    finish_reason: null,
  };
  return { whole: JSON.stringify(whole), type: 'application/json' };
}
