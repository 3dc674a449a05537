import type { IncomingMessage, ServerResponse } from 'node:http';
import { isWrongKey } from '../api-key.ts';
import { admit } from '../chat.ts';
import { openAiRows, fillRow } from '../dialects/base.ts';
import type { Problem, Reply } from '../dialect.ts';
import { type Json, objectIn } from '../json.ts';
import { type Once, withoutScenarios } from '../scenario.ts';
import { route } from '../vendors.ts';
import { hearingOf } from './hear.ts';
import { listeners } from './listeners.ts';
import * as listening from './own-listeners.ts';
import * as speaking from './own-speakers.ts';
import { speak, speakers } from './speakers.ts';
import { complain, play, type Stage } from './stage.ts';
import { transcribe } from './transcribe.ts';

/** elevenlabs.io/docs/api-reference/errors: `detail` holds the error. */
const elevenLabs: Stage = {
  refuse: (problem) =>
    worded(problem, ({ code, message, kind }) => ({ detail: { status: code ?? kind, message } })),
};
/** developers.deepgram.com/docs/errors */
const deepgram: Stage = {
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
const google: Stage = {
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
const dashscope: Stage = {
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
  readonly stage?: Stage;
  /** Reads the key; undefined: as in the vendor's chat. */
  readonly key?: (incoming: IncomingMessage) => string | undefined;
  readonly listens?: listening.OwnListener;
  readonly speaks?: speaking.OwnSpeaker;
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
    stage: elevenLabs,
    key: header('xi-api-key'),
    listens: listening.elevenlabs,
  },
  {
    at: /^\/elevenlabs\/v1(\/text-to-speech\/.+)$/,
    stage: elevenLabs,
    key: header('xi-api-key'),
    speaks: speaking.elevenlabs,
  },
  {
    at: /^\/deepgram\/v1(\/listen)$/,
    stage: deepgram,
    key: token('Token'),
    listens: listening.deepgram,
  },
  {
    at: /^\/deepgram\/v1(\/speak)$/,
    stage: deepgram,
    key: token('Token'),
    speaks: speaking.deepgram,
  },
  {
    at: /^\/gemini\/v1beta(\/models\/[^:]*tts[^:]*:streamGenerateContent)$/,
    stage: google,
    key: header('x-goog-api-key'),
    speaks: speaking.gemini,
  },
  {
    at: /^\/qwen(\/api\/v1\/services\/aigc\/multimodal-generation\/generation)$/,
    stage: dashscope,
    key: token('Bearer'),
    speaks: speaking.dashscope,
  },
  { at: /^\/qwen\/compatible-mode\/v1(\/chat\/completions)$/, listens: listening.qwen },
  { at: /^\/openrouter\/api\/v1(\/audio\/transcriptions)$/, listens: listening.openrouter },
  { at: /^\/xai\/v1(\/stt)$/, listens: listening.xai },
  { at: /^\/xai\/v1(\/tts)$/, speaks: speaking.xai },
  { at: /^\/minimax\/v1(\/t2a_v2)$/, speaks: speaking.minimax },
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
  const [listener, speaker] = [listeners[dialect.vendor], speakers[dialect.vendor]];
  if (task === 'speech' && speaker !== undefined)
    await speak(incoming, response, body, dialect, speaker, once);
  else if (
    task !== 'speech' &&
    listener !== undefined &&
    (task === 'transcriptions' || listener.translates)
  ) {
    if (admit(incoming, response, dialect) !== undefined)
      await transcribe(incoming, response, body, dialect, listener, deployment, once);
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
  const stage = endpoint.stage ?? route(incoming.url ?? '')?.dialect;
  if (stage === undefined) throw new Error(`nobody stands at ${path}`);
  if (endpoint.key === undefined) {
    const dialect = route(incoming.url ?? '')?.dialect;
    if (dialect !== undefined && admit(incoming, response, dialect) === undefined) return;
  } else {
    const key = endpoint.key(incoming) ?? '';
    if (key === '' || isWrongKey(key))
      return complain(response, stage, { message: 'Invalid API key', kind: 'wrong_key' });
  }
  if (endpoint.listens !== undefined)
    return listen(incoming, response, body, stage, endpoint.listens, query, once);
  const raw = objectIn(body);
  const speaker = endpoint.speaks;
  const input = raw && speaker?.input(raw);
  if (raw === undefined || speaker === undefined || !input)
    return complain(response, stage, { message: 'a text is needed' });
  const named = speaker.model(raw, path, query);
  const complaint = speaker.complaint(raw, path, query);
  if (complaint !== undefined) return complain(response, stage, complaint, withoutScenarios(named));
  return play(response, once, stage, named, input, (played) => speaker.show(raw, query, played));
}

async function listen(
  incoming: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  stage: Stage,
  { take, show }: listening.OwnListener,
  query: URLSearchParams,
  once: Once,
): Promise<void> {
  const given = take(incoming, body, query);
  if (given.complaint !== undefined) return complain(response, stage, given.complaint, given.model);
  const hearing = given.file && hearingOf(given.file);
  if (hearing === undefined)
    return complain(response, stage, { message: 'the file is no sound that can be read' });
  return play(response, once, stage, given.model, hearing.text, (played) =>
    show(
      played.empty ? { ...hearing, text: '' } : hearing,
      { ...given, model: withoutScenarios(given.model) },
      played,
    ),
  );
}
