import type { Principal } from '../accounts/principal.ts';
import { refuse } from '../base/refusal.ts';
import type { ClientFormat } from '../gateway/client-format.ts';
import { type ClientRequest, type Sized, unwritten } from '../gateway/request.ts';
import type { Form, FormLimits } from '../http/multipart.ts';
import { soundOf } from '../media/sound/sound.ts';
import { type ListenWish, type ScriptFormat, scripts } from '../providers/sound-wish.ts';
import { completionFormat } from './chat.ts';

const mebi = 1024 * 1024;
/** As in the convention (wire-formats §1.5). */
const fileBytesMax = 25 * mebi;
export const transcriptionLimits: FormLimits = {
  fields: 64,
  fieldBytes: mebi,
  files: 1,
  fileBytes: fileBytesMax,
  bodyBytes: fileBytesMax + 2 * mebi,
};
const accepted = 'flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav, webm';
const languageCharsMax = 32;

/** Vendors count 10 to 32 tokens a second of sound; people say fewer than 12 tokens in one. */
const tokensPerSecond = { likely: 10, most: 32, said: 12 };
const tokensBeside = 256;

/** Pieces of text end as chat's do (recorded 2026-08). Nothing in them waits for a count. */
export const transcriptionFormat: ClientFormat = (({ counted: _, ...format }) => format)(
  completionFormat('transcript'),
);

/**
 * Where some vendors look for another recording than the one that was measured
 * (console.groq.com/docs/api-reference, docs.mistral.ai/api, 2026-08).
 */
const elsewhere = ['url', 'file_url', 'audio_url', 'file_id'];

type Task = 'transcriptions' | 'translations';

/**
 * POST /v1/audio/transcriptions and /translations: the request as the pipeline takes it. Throws the
 * Refusal that names what is wrong.
 */
export async function parseTranscription(
  id: string,
  principal: Principal,
  form: Form,
  task: Task,
): Promise<ClientRequest> {
  const fields = new Fields(form);
  const model = fields.required('model');
  const returns =
    fields.oneOf<ScriptFormat>('response_format', task === 'translations' ? translated : scripts) ??
    'json';
  const stream = task === 'transcriptions' && fields.oneOf('stream', ['true', 'false']) === 'true';
  const temperature = fields.number('temperature', 0, 1);
  const timestamps = fields.list('timestamp_granularities', ['word', 'segment'] as const);
  if (timestamps.length > 0 && returns !== 'verbose_json')
    refuse('invalid_value', {
      param: 'timestamp_granularities',
      why: "it is only allowed when 'response_format' is verbose_json.",
    });
  if (fields.list('include', ['logprobs'] as const).length > 0 && returns !== 'json')
    refuse('invalid_value', {
      param: 'include',
      why: "it is only allowed when 'response_format' is json.",
    });
  for (const other of elsewhere)
    if (fields.one(other) !== undefined)
      refuse('invalid_value', { param: other, why: 'a recording is sent as a file.' });
  const prompt = fields.one('prompt');
  const listen: ListenWish = {
    ...(await recordingOf(form)),
    returns,
    language: languageOf(fields),
    prompt,
    temperature,
    timestamps,
    fields: form.fields.filter(([name]) => name !== 'model' && name !== 'stream'),
  };
  const sized = sizeOf(listen);
  return {
    id,
    principal,
    capability: task,
    model,
    body: Object.fromEntries(form.fields),
    bytes: Buffer.alloc(0),
    stream,
    ...unwritten,
    textTokensMax: (sized.likely.input ?? 0) + (sized.likely.audio_input ?? 0),
    listen,
    sized,
    text: () => '',
    answerId: `audio-${id.slice(4)}`,
  };
}

export const translated = scripts.filter((format) => format !== 'diarized_json');

async function recordingOf({
  files,
}: Form): Promise<Pick<ListenWish, 'file' | 'filename' | 'type' | 'format' | 'seconds'>> {
  const [file] = files;
  if (file === undefined) refuse('missing_parameter', { param: 'file' });
  if (file.field !== 'file')
    refuse('invalid_value', {
      param: file.field,
      why: "the recording goes into the field 'file'.",
    });
  const { content, filename, type } = file;
  if (content.size === 0)
    refuse('invalid_value', {
      param: 'file',
      why: `it is empty. Send a recording as one of ${accepted}.`,
    });
  const sound = await soundOf(content);
  if (sound === 'strange')
    refuse('invalid_value', {
      param: 'file',
      why: `it is no recording that can be read. Send one of ${accepted}.`,
    });
  if (sound === 'unreadable')
    refuse('invalid_value', {
      param: 'file',
      why: `it is damaged or holds no sound. Send a whole recording as one of ${accepted}.`,
    });
  return { file: content, filename: filename || `sound.${sound.format}`, type, ...sound };
}

function languageOf(fields: Fields): string | undefined {
  const language = fields.one('language');
  if (language === undefined || language === '') return undefined;
  if (language.length <= languageCharsMax && /^[a-z]+(?:[-_][a-z\d]+)*$/i.test(language))
    return language;
  return refuse('invalid_value', {
    param: 'language',
    why: "it is an ISO 639 code such as 'en', 'zh' or 'de'.",
  });
}

function sizeOf({ seconds, prompt = '' }: ListenWish): Sized {
  const input = Math.ceil(Buffer.byteLength(prompt) / 3);
  return {
    most: {
      second: Math.ceil(seconds) + 1,
      input: input + tokensBeside,
      audio_input: Math.ceil(seconds * tokensPerSecond.most) + tokensBeside,
      output: Math.ceil(seconds * tokensPerSecond.said) + tokensBeside,
    },
    measured: { second: seconds },
    likely: { input, audio_input: Math.ceil(seconds * tokensPerSecond.likely) },
  };
}

/**
 * The text fields of a form: of those that are given twice the last counts, lists come with or
 * without brackets.
 */
class Fields {
  readonly #all: Form['fields'];

  constructor({ fields }: Form) {
    this.#all = fields;
  }

  one(param: string): string | undefined {
    return this.#all.findLast(([name]) => name === param)?.[1];
  }

  required(param: string): string {
    const value = this.one(param);
    if (value === undefined) refuse('missing_parameter', { param });
    if (value === '') refuse('invalid_value', { param, why: 'it must not be empty.' });
    return value;
  }

  oneOf<Word extends string>(param: string, known: readonly Word[]): Word | undefined {
    const value = this.one(param);
    return value === undefined || value === '' ? undefined : word(param, value, known);
  }

  number(param: string, least: number, most: number): number | undefined {
    const text = this.one(param);
    if (text === undefined || text === '') return undefined;
    const value = Number(text);
    if (Number.isNaN(value))
      refuse('invalid_type', { param, expected: 'a number', got: 'a string' });
    if (value < least || value > most)
      refuse('out_of_range', {
        param,
        expected: value < least ? `>= ${least}` : `<= ${most}`,
        got: text,
      });
    return value;
  }

  list<Word extends string>(param: string, known: readonly Word[]): readonly Word[] {
    const given = this.#all.filter(
      ([name]) =>
        name === param ||
        name === `${param}[]` ||
        (/^\w+\[\d+\]$/.test(name) && name.startsWith(`${param}[`)),
    );
    return given.map(([, value]) => word(param, value, known));
  }
}

function word<Word extends string>(param: string, value: string, known: readonly Word[]): Word {
  return (
    known.find((one) => one === value) ??
    refuse('invalid_value', { param, why: `'${value}' is not one of ${known.join(', ')}.` })
  );
}
