import type { IncomingMessage, ServerResponse } from 'node:http';
import { isWrongKey } from '../api-key.ts';
import { admit } from '../chat.ts';
import { openAiRows, fillRow } from '../dialects/base.ts';
import type { Problem, Reply } from '../dialect.ts';
import { type Json, objectIn } from '../json.ts';
import { type Once, withoutScenarios } from '../scenario.ts';
import { route } from '../vendors.ts';
import { transcriptOf } from './transcript.ts';
import { transcriptionRules } from './transcription-rules.ts';
import * as transcription from './own-transcription.ts';
import * as speech from './own-speech.ts';
import { speak, speechRules } from './speech.ts';
import { complain, play, type Refuser } from './play.ts';
import { transcribe } from './transcribe.ts';

/** elevenlabs.io/docs/api-reference/errors: `detail` holds the error. */
const elevenLabs: Refuser = {
  refuse: (problem) =>
    worded(problem, ({ code, message, kind }) => ({ detail: { status: code ?? kind, message } })),
};
/** developers.deepgram.com/docs/errors */
const deepgram: Refuser = {
  refuse: (problem) =>
    worded(problem, ({ code, message, kind }) => ({
      err_code: code ?? deepgramCodes[kind] ?? 'Bad Request',
      err_msg: message,
      request_id: 'dg-sim',
    })),
};
const deepgramCodes: Readonly<Record<string, string>> = {
  wrong_key: 'INVALID_AUTH',
  missing_key: 'INVALID_AUTH',
  quota: 'ASR_PAYMENT_REQUIRED',
  rate: 'TOO_MANY_REQUESTS',
};
/** Google's own status names. */
const google: Refuser = {
  refuse: (problem) =>
    worded(problem, ({ status, message, kind }) => ({
      error: { code: status, message, status: googleTerms[kind] ?? 'INVALID_ARGUMENT' },
    })),
};
const googleTerms: Readonly<Record<string, string>> = {
  rate: 'RESOURCE_EXHAUSTED',
  server: 'INTERNAL',
  overloaded: 'UNAVAILABLE',
  wrong_key: 'UNAUTHENTICATED',
  unknown_model: 'NOT_FOUND',
};
/** DashScope's own API: a code and a message at the top level. */
const dashscope: Refuser = {
  refuse: (problem) =>
    worded(problem, ({ code, message, kind }) => ({
      code: code ?? kind,
      message,
      request_id: 'a7f3-sim',
    })),
};

function worded(problem: Problem, body: (row: ReturnType<typeof fillRow>) => Json): Reply {
  const row = fillRow(openAiRows, problem);
  return { status: row.status, body: body(row) };
}

interface AudioEndpoint {
  readonly at: RegExp;
  /** Undefined: the one of the vendor's chat. */
  readonly refuser?: Refuser;
  /** Reads the key; undefined: as in the vendor's chat. */
  readonly key?: (incoming: IncomingMessage) => string | undefined;
  readonly transcribes?: transcription.OwnTranscription;
  readonly speaks?: speech.OwnSpeech;
}

const header =
  (name: string) =>
  ({ headers }: IncomingMessage) =>
    [headers[name]].flat()[0];
const token =
  (scheme: string) =>
  ({ headers }: IncomingMessage) =>
    new RegExp(`^${scheme} (.+)$`).exec(headers.authorization ?? '')?.[1];

const endpoints: readonly AudioEndpoint[] = [
  {
    at: /^\/elevenlabs\/v1(\/speech-to-text)$/,
    refuser: elevenLabs,
    key: header('xi-api-key'),
    transcribes: transcription.elevenlabs,
  },
  {
    at: /^\/elevenlabs\/v1(\/text-to-speech\/.+)$/,
    refuser: elevenLabs,
    key: header('xi-api-key'),
    speaks: speech.elevenlabs,
  },
  {
    at: /^\/deepgram\/v1(\/listen)$/,
    refuser: deepgram,
    key: token('Token'),
    transcribes: transcription.deepgram,
  },
  {
    at: /^\/deepgram\/v1(\/speak)$/,
    refuser: deepgram,
    key: token('Token'),
    speaks: speech.deepgram,
  },
  {
    at: /^\/gemini\/v1beta(\/models\/[^:]*tts[^:]*:streamGenerateContent)$/,
    refuser: google,
    key: header('x-goog-api-key'),
    speaks: speech.gemini,
  },
  {
    at: /^\/qwen(\/api\/v1\/services\/aigc\/multimodal-generation\/generation)$/,
    refuser: dashscope,
    key: token('Bearer'),
    speaks: speech.dashscope,
  },
  { at: /^\/qwen\/compatible-mode\/v1(\/chat\/completions)$/, transcribes: transcription.qwen },
  { at: /^\/openrouter\/api\/v1(\/audio\/transcriptions)$/, transcribes: transcription.openrouter },
  { at: /^\/xai\/v1(\/stt)$/, transcribes: transcription.xai },
  { at: /^\/xai\/v1(\/tts)$/, speaks: speech.xai },
  { at: /^\/minimax\/v1(\/t2a_v2)$/, speaks: speech.minimax },
];

/** One audio request as its vendor answers it; false for any other request. */
export async function sound(
  incoming: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  once: Once,
): Promise<boolean> {
  const url = incoming.url ?? '';
  const [path = '', query = ''] = url.split('?');
  if (incoming.method !== 'POST') return false;
  const endpoint = endpoints.find(({ at }) => at.test(path));
  if (endpoint !== undefined && !isOther(path, body)) {
    await own(
      incoming,
      response,
      body,
      endpoint,
      endpoint.at.exec(path)?.[1] ?? '',
      new URLSearchParams(query),
      once,
    );
    return true;
  }
  const to = route(url);
  const task = /^\/audio\/(transcriptions|translations|speech)$/.exec(to?.path ?? '')?.[1];
  if (to === undefined || task === undefined) return false;
  const { dialect, deployment } = to;
  const { vendor } = dialect;
  const [ofTranscription, ofSpeech] = [transcriptionRules[vendor], speechRules[vendor]];
  if (task === 'speech' && ofSpeech !== undefined)
    await speak(incoming, response, body, dialect, ofSpeech, once);
  else if (
    task !== 'speech' &&
    ofTranscription !== undefined &&
    (task === 'transcriptions' || ofTranscription.translates)
  ) {
    if (admit(incoming, response, dialect) !== undefined)
      await transcribe(incoming, response, body, dialect, ofTranscription, deployment, once);
  } else return false;
  return true;
}

/** Image and chat requests go to the same addresses. */
function isOther(path: string, body: Buffer): boolean {
  if (path.endsWith('/chat/completions'))
    return !/"model":"[^"]*asr/.test(body.toString('latin1', 0, 400));
  return (
    path.endsWith('/multimodal-generation/generation') &&
    !/"model":"[^"]*tts/.test(body.toString('latin1', 0, 400))
  );
}

async function own(
  incoming: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  endpoint: AudioEndpoint,
  path: string,
  query: URLSearchParams,
  once: Once,
): Promise<void> {
  const refuser = endpoint.refuser ?? route(incoming.url ?? '')?.dialect;
  if (refuser === undefined) throw new Error(`nobody stands at ${path}`);
  if (endpoint.key === undefined) {
    const dialect = route(incoming.url ?? '')?.dialect;
    if (dialect !== undefined && admit(incoming, response, dialect) === undefined) return;
  } else {
    const key = endpoint.key(incoming) ?? '';
    if (key === '' || isWrongKey(key))
      return complain(response, refuser, { message: 'Invalid API key', kind: 'wrong_key' });
  }
  if (endpoint.transcribes !== undefined)
    return listen(incoming, response, body, refuser, endpoint.transcribes, query, once);
  const raw = objectIn(body);
  const speaker = endpoint.speaks;
  const input = raw && speaker?.input(raw);
  if (raw === undefined || speaker === undefined || !input)
    return complain(response, refuser, { message: 'a text is needed' });
  const named = speaker.model(raw, path, query);
  const complaint = speaker.complaint(raw, path, query);
  if (complaint !== undefined)
    return complain(response, refuser, complaint, withoutScenarios(named));
  return play(response, once, refuser, named, input, (scenario) =>
    speaker.show(raw, query, scenario),
  );
}

async function listen(
  incoming: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  refuser: Refuser,
  { take, show }: transcription.OwnTranscription,
  query: URLSearchParams,
  once: Once,
): Promise<void> {
  const given = take(incoming, body, query);
  if (given.complaint !== undefined)
    return complain(response, refuser, given.complaint, given.model);
  const transcript = given.file && transcriptOf(given.file);
  if (transcript === undefined)
    return complain(response, refuser, { message: 'the file is no sound that can be read' });
  return play(response, once, refuser, given.model, transcript.text, (scenario) =>
    show(
      scenario.empty ? { ...transcript, text: '' } : transcript,
      { ...given, model: withoutScenarios(given.model) },
      scenario,
    ),
  );
}
