import { bytesPerTokenReserved, bytesPerTokenUsual } from '../base/bytes-per-token.ts';
import { editJsonBytes, isObject, jsonText } from '../base/json.ts';
import { mebibyte } from '../base/mebibyte.ts';
import type { Quantities } from '../base/quantities.ts';
import { refuse } from '../base/refusal.ts';
import {
  type ClientFormat,
  type ApiRequest,
  defaultsWithoutText,
  type KnownSize,
} from '../gateway/api-request.ts';
import type { IdempotentRequests } from '../gateway/idempotency.ts';
import type { GatewayParts } from '../gateway/parts.ts';
import { run } from '../gateway/run.ts';
import { digestOfForm, readForm, type Form, type FormLimits } from '../http/multipart.ts';
import { readAudio } from '../media/audio/duration.ts';
import { usageOf } from '../providers/formats/audio/transcript.ts';
import {
  type SpeechRequest,
  speechFormats,
  type TranscriptionRequest,
  type TranscriptFormat,
  transcriptFormats,
} from '../providers/media-request.ts';
import { completionFormat } from './chat.ts';
import type { Endpoint, RequestContext } from './endpoint.ts';
import { chatEnvelope } from './errors.ts';
import { idempotent, idempotentAfterRead } from './idempotency.ts';
import * as schema from './schema.ts';
import {
  checkLength,
  checkOf,
  checkText,
  fieldsOf,
  type ParsedJson,
  type ParserContext,
  takeJson,
  readersOf,
  refuseType,
  type RequestBody,
} from './request-body.ts';

/** As in the convention (developers.openai.com/api/reference/audio, 2026-08). */
const fileBytesMax = 25 * mebibyte;
export const transcriptionLimits: FormLimits = {
  fields: 64,
  fieldBytes: mebibyte,
  files: 1,
  fileBytes: fileBytesMax,
  bodyBytes: fileBytesMax + 2 * mebibyte,
};
const accepted = 'flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav, webm';
const languageCharsMax = 32;

/**
 * Vendors count 10 to 32 tokens per second of audio; people speak fewer than 12 tokens per second.
 */
const tokensPerSecond = { likely: 10, most: 32, spoken: 12 };
const tokensBeside = 256;

/**
 * A transcript stream ends as a chat stream does (recorded 2026-08). No usage is written into it,
 * nor into an answer that is no transcript in JSON.
 */
const uncountedFormat: ClientFormat = (({ counted: _, ...format }) => format)(
  completionFormat('transcript'),
);
const countedFormat: ClientFormat = {
  ...uncountedFormat,
  counted: { whole: withSeconds, event: () => '' },
};

/** The seconds that are charged, where the vendor told no usage. Estimated tokens are not told. */
function withSeconds(answer: Buffer, { second }: Quantities): Buffer {
  if (second === undefined) return answer;
  const { usage } = usageOf({ second }, 'verbose_json');
  return editJsonBytes(answer, [{ path: ['usage'], json: jsonText(usage) }]);
}

const transcriptionFormat = ({ capability, transcription }: ApiRequest): ClientFormat =>
  capability === 'transcriptions' && transcription?.returns.endsWith('json') === true
    ? countedFormat
    : uncountedFormat;

/**
 * Fields in which some vendors accept another recording than the file that Tollgate has measured
 * (console.groq.com/docs/api-reference, docs.mistral.ai/api, 2026-08).
 */
const elsewhere = ['url', 'file_url', 'audio_url', 'file_id'];

type Task = 'transcriptions' | 'translations';

const translationFormats = transcriptFormats.filter((format) => format !== 'diarized_json');
/** Fields that may be repeated, and whose name may be written without brackets. */
const listFields = {
  timestamp_granularities: schema.choice(
    'Timestamps to include; only with `verbose_json`. Can be repeated.',
    ['word', 'segment'],
  ),
  include: schema.choice('Additional output; only with `json`.', ['logprobs']),
};
const transcriptionForm = formOf('A transcription model.', transcriptFormats, {
  language: schema.checkedBy(
    checkLanguage,
    schema.string('ISO 639, such as `en` or `zh`.', {
      pattern: '^[A-Za-z]+(?:[-_][A-Za-z0-9]+)*$',
    }),
  ),
  stream: schema.choice('Whether to stream events.', ['true', 'false']),
  'timestamp_granularities[]': listFields.timestamp_granularities,
  'include[]': listFields.include,
});
const translationForm = formOf('A translation model.', translationFormats, {});

/** The forms by the names that the document gives them. */
export const transcriptionSchemas = {
  TranscriptionForm: {
    ...transcriptionForm,
    allOf: [
      schema.onlyWith('timestamp_granularities[]', { response_format: { const: 'verbose_json' } }),
    ],
  },
  TranslationForm: translationForm,
};
const readField = readersOf(transcriptionForm);
const readFormat = {
  transcriptions: readField.response_format,
  translations: readersOf(translationForm).response_format,
};

function formOf<More extends Readonly<Record<string, schema.Schema>>>(
  model: string,
  formats: readonly TranscriptFormat[],
  more: More,
) {
  return schema.request(
    {
      model: schema.string(model, { minLength: 1 }),
      file: {
        type: 'string',
        format: 'binary',
        description: 'flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav or webm, up to 25 MiB.',
      } satisfies schema.Schema,
    },
    {
      prompt: schema.string('Words that may occur in the recording.'),
      response_format: schema.choice('Format of the text; default `json`.', formats),
      temperature: schema.number('Sampling temperature.', 0, 1),
      ...more,
    },
  );
}

/** POST /v1/audio/transcriptions and /translations */
export async function parseTranscription(
  { id, principal }: ParserContext,
  form: Form,
  task: Task,
): Promise<ApiRequest> {
  const fields = fieldsOf(form.fields.map(withListName), isList);
  const members = membersOf(fields);
  const model = readField.model(members);
  const returns = readFormat[task](members) ?? 'json';
  const stream = task === 'transcriptions' && readField.stream(members) === 'true';
  const temperature = readField.temperature(members);
  const timestamps = readList(
    fields,
    'timestamp_granularities',
    listFields.timestamp_granularities,
  );
  if (timestamps.length > 0 && returns !== 'verbose_json')
    refuse('invalid_value', {
      param: 'timestamp_granularities',
      why: "it is only allowed when 'response_format' is verbose_json.",
    });
  if (readList(fields, 'include', listFields.include).length > 0 && returns !== 'json')
    refuse('invalid_value', {
      param: 'include',
      why: "it is only allowed when 'response_format' is json.",
    });
  for (const other of elsewhere)
    if (members[other] !== undefined)
      refuse('invalid_value', { param: other, why: 'a recording is sent as a file.' });
  const transcription: TranscriptionRequest = {
    ...(await recordingOf(form)),
    returns,
    language: readField.language(members),
    prompt: readField.prompt(members),
    temperature,
    timestamps,
    fields: fields.filter(([name]) => name !== 'model' && name !== 'stream'),
  };
  const sized = sizeOf(transcription);
  return {
    id,
    principal,
    capability: task,
    model,
    body: members,
    bytes: Buffer.alloc(0),
    stream,
    ...defaultsWithoutText,
    textBytes: 0,
    textTokensMax: (sized.likely.input ?? 0) + (sized.likely.audio_input ?? 0),
    transcription,
    sized,
    text: () => '',
    answerId: `audio-${id.slice(4)}`,
  };
}

async function recordingOf({
  files,
}: Form): Promise<Pick<TranscriptionRequest, 'file' | 'filename' | 'type' | 'format' | 'seconds'>> {
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
  const sound = await readAudio(content);
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

function checkLanguage(language: unknown): string {
  if (
    typeof language === 'string' &&
    language.length <= languageCharsMax &&
    /^[a-z]+(?:[-_][a-z\d]+)*$/i.test(language)
  )
    return language;
  return refuse('invalid_value', {
    param: 'language',
    why: "it is an ISO 639 code such as 'en', 'zh' or 'de'.",
  });
}

function sizeOf({ seconds, prompt = '' }: TranscriptionRequest): KnownSize {
  const input = Math.ceil(Buffer.byteLength(prompt) / 3);
  return {
    most: {
      second: Math.ceil(seconds) + 1,
      input: input + tokensBeside,
      audio_input: Math.ceil(seconds * tokensPerSecond.most) + tokensBeside,
      output: Math.ceil(seconds * tokensPerSecond.spoken) + tokensBeside,
    },
    measured: { second: seconds },
    likely: { input, audio_input: Math.ceil(seconds * tokensPerSecond.likely) },
  };
}

const isList = (name: string): boolean => name.endsWith('[]');

/** A field of a list gets the name that vendors read: `name[]` for `name[0]`, and for `name`. */
function withListName([name, value]: Form['fields'][number]): Form['fields'][number] {
  const bare = name.replace(/\[\d*\]$/, '');
  return bare !== name || name in listFields ? [`${bare}[]`, value] : [name, value];
}

/** The fields as members of a body: a number is read from its digits, a flag in any case. */
function membersOf(fields: Form['fields']): RequestBody {
  const members: Record<string, unknown> = Object.fromEntries(fields);
  const { stream } = members;
  const temperature = Number(members['temperature']);
  if (!Number.isNaN(temperature)) members['temperature'] = temperature;
  if (typeof stream === 'string') members['stream'] = stream.trim().toLowerCase();
  return members;
}

function readList<Value>(
  fields: Form['fields'],
  param: string,
  item: schema.SchemaOf<Value>,
): readonly Value[] {
  const check = checkOf(item, param);
  return fields.filter(([name]) => name === `${param}[]`).map(([, value]) => check(value));
}

/** The audio endpoints: transcriptions, translations and speech. */
export function audioEndpoints(
  parts: GatewayParts,
  idempotency: IdempotentRequests,
): readonly Endpoint[] {
  return [
    transcriptionEndpoint(parts, idempotency, 'transcriptions'),
    transcriptionEndpoint(parts, idempotency, 'translations'),
    idempotent(idempotency, {
      method: 'POST',
      path: '/audio/speech',
      handle(context) {
        const parsed = parseSpeech(context, takeJson(context.request));
        return run(parts, parsed, context.response, speechFormat(parsed.speech));
      },
    }),
  ];
}

function transcriptionEndpoint(
  parts: GatewayParts,
  idempotency: IdempotentRequests,
  task: Task,
): Endpoint {
  return {
    method: 'POST',
    path: `/audio/${task}`,
    body: 'stream',
    async handle(context) {
      const { body, headers } = context.request;
      const form = await readForm(body, headers, transcriptionLimits, parts.spools);
      if (form === 'left') return;
      const transcribe = async (mine: RequestContext): Promise<void> => {
        const request = await parseTranscription(mine, form, task);
        return run(parts, request, mine.response, transcriptionFormat(request));
      };
      try {
        await idempotentAfterRead(idempotency, context, () => digestOfForm(form), transcribe);
      } finally {
        form.discard();
      }
    },
  };
}

/** As in the convention (developers.openai.com/api/reference/audio, 2026-08). */
const speechCharactersMax = 4_096;
const speechSpeedMin = 0.25;
const speechSpeedMax = 4;

export const speechRequestSchema = schema.request(
  {
    model: schema.string('A speech model.', { minLength: 1 }),
    // Counted as characters, not as JavaScript's units, by `speechOptionsOf`.
    input: schema.string('The text.', {
      minLength: 1,
      maxLength: speechCharactersMax,
      check: checkText,
    }),
    voice: schema.checkedBy(
      checkVoice,
      schema.anyOf(
        'The name of a voice, or an object with the `id` of your own voice.',
        { type: 'string', minLength: 1 },
        schema.request({ id: schema.string('ID of the voice.') }),
      ),
    ),
  },
  {
    instructions: schema.string('How to read the text.', { maxLength: speechCharactersMax }),
    response_format: schema.choice(
      'Format of the audio; default `mp3` if the vendor has it.',
      speechFormats,
    ),
    speed: schema.number('Speed; default 1.', speechSpeedMin, speechSpeedMax),
    stream_format: schema.choice('`audio` for bytes, `sse` for events.', ['audio', 'sse']),
  },
);
const read = readersOf(speechRequestSchema);

/** More than any voice needs for a character: a voice reads numbers and signs as words. */
const speechUsageMax = {
  tokensPerCharacter: 8,
  secondsPerCharacter: 0.5,
  tokensBeside: 256,
  secondsBeside: 5,
};

/** A stream of audio bytes has no room for keep-alives, and an error can only end it. */
const asBytes: ClientFormat = { done: '', keepAlive: '', errorEvent: undefined };
const asEvents: ClientFormat = {
  done: '',
  keepAlive: ': keep-alive\n\n',
  errorEvent: chatEnvelope.event,
};

const speechFormat = (request: SpeechRequest): ClientFormat =>
  request.events ? asEvents : asBytes;

/** POST /v1/audio/speech */
export function parseSpeech(
  { id, principal }: ParserContext,
  { body, bytes, skeleton }: ParsedJson,
): ApiRequest & { readonly speech: SpeechRequest } {
  const model = read.model(body);
  const speech = speechOptionsOf(body);
  const { input, characters, instructions = '', speed = 1 } = speech;
  const inputBytes = Buffer.byteLength(input) + Buffer.byteLength(instructions);
  const slowness = Math.max(1, 1 / speed);
  const tokens = Math.ceil(inputBytes / bytesPerTokenReserved) + speechUsageMax.tokensBeside;
  return {
    id,
    principal,
    capability: 'speech',
    model,
    body,
    bytes,
    skeleton,
    // Tollgate always streams speech, whichever format the client requests.
    stream: true,
    ...defaultsWithoutText,
    textBytes: bytes.length,
    textTokensMax: tokens,
    speech,
    sized: {
      most: {
        input: tokens,
        audio_output:
          Math.ceil(characters * speechUsageMax.tokensPerCharacter * slowness) +
          speechUsageMax.tokensBeside,
        second:
          Math.ceil(characters * speechUsageMax.secondsPerCharacter * slowness) +
          speechUsageMax.secondsBeside,
        character: characters,
      },
      measured: { character: characters },
      likely: { input: Math.ceil(inputBytes / bytesPerTokenUsual) },
    },
    text: () => '',
    answerId: `speech-${id.slice(4)}`,
  };
}

function speechOptionsOf(body: RequestBody): SpeechRequest {
  const input = read.input(body);
  const characters = [...input];
  checkLength(characters, 'input', speechCharactersMax, 'characters');
  const instructions = read.instructions(body);
  return {
    input,
    characters: characters.length,
    voice: read.voice(body),
    instructions,
    format: read.response_format(body),
    speed: read.speed(body),
    events: read.stream_format(body) === 'sse',
  };
}

/** The name of a voice, or an object with the id of the client's own voice. */
function checkVoice(voice: unknown): string {
  const name = isObject(voice) ? voice['id'] : voice;
  if (typeof name !== 'string') refuseType('voice', 'a string, or an object with an id', voice);
  if (name === '') refuse('invalid_value', { param: 'voice', why: 'it must not be empty.' });
  return name;
}
