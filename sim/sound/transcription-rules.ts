import type { Complaint } from '../dialect.ts';
import type { Form } from '../media/form.ts';

/** The parameters of a vendor with OpenAI's transcriptions. */
export interface TranscriptionRules {
  readonly translates?: true;
  /** Fields that it knows; absent: it ignores unknown ones. */
  readonly only?: readonly string[];
  readonly formats: (model: string) => readonly string[];
  readonly streams?: (model: string) => boolean;
  /** The form of its usage. */
  readonly usage: 'seconds or tokens' | 'mistral' | 'none';
}

const names = (text: string): readonly string[] => text.split(' ');
const whisperFormats = names('json text srt verbose_json vtt');

/** CreateTranscriptionRequest of the OpenAPI description, 2026-08-21. */
const openAi: TranscriptionRules = {
  translates: true,
  only: names(
    'file model language languages keywords prompt response_format temperature include[] timestamp_granularities[] stream chunking_strategy known_speaker_names[] known_speaker_references[]',
  ),
  formats: (model) =>
    /diarize/.test(model)
      ? names('json text diarized_json')
      : model.startsWith('gpt-')
        ? names('json text')
        : whisperFormats,
  streams: (model) => model.startsWith('gpt-'),
  usage: 'seconds or tokens',
};

export const transcriptionRules: Readonly<Record<string, TranscriptionRules>> = {
  openai: openAi,
  azure: openAi,
  // console.groq.com/docs/speech-to-text
  groq: {
    translates: true,
    only: names(
      'file url model language prompt response_format temperature timestamp_granularities[]',
    ),
    formats: () => names('json text verbose_json'),
    usage: 'none',
  },
  // docs.mistral.ai/api/endpoint/audio/transcriptions
  mistral: {
    only: names(
      'file file_url file_id model language temperature stream diarize context_bias timestamp_granularities[]',
    ),
    formats: () => ['json'],
    usage: 'mistral',
  },
  together: { translates: true, formats: () => names('json verbose_json'), usage: 'none' },
  siliconflow: { only: names('file model'), formats: () => ['json'], usage: 'none' },
  zhipu: {
    only: names('file file_base64 model stream request_id user_id prompt hotwords'),
    formats: () => ['json'],
    usage: 'none',
  },
  vllm: { translates: true, formats: () => names('json text verbose_json'), usage: 'none' },
};

const fileBytesMax = 25 * 1024 * 1024;

/** The first error in a form, before transcription. */
export function formComplaint(
  form: Form,
  model: string,
  rules: TranscriptionRules,
  mistral: boolean,
): Complaint | undefined {
  const of = (name: string): string | undefined =>
    form.parts.find(([field]) => field === name)?.[1];
  const stranger = rules.only && form.parts.find(([name]) => !rules.only?.includes(name));
  if (stranger !== undefined)
    return {
      message: `Unrecognized request argument supplied: ${stranger[0]}`,
      param: stranger[0],
    };
  if (model === '') return { message: 'you must provide a model parameter', param: 'model' };
  const file = form.files.at(-1);
  if (file?.name !== 'file') return { message: 'you must provide a file', param: 'file' };
  if (file.bytes.length > fileBytesMax)
    return { message: `Maximum content size limit (${fileBytesMax}) exceeded`, status: 413 };
  const format = of('response_format') ?? 'json';
  const formats = rules.formats(model);
  if (!formats.includes(format))
    return {
      message: `response_format '${format}' is not compatible with model '${model}'. Use one of ${formats.join(', ')}.`,
      param: 'response_format',
    };
  const temperature = of('temperature');
  if (temperature !== undefined && !(Number(temperature) >= 0 && Number(temperature) <= 1))
    return { message: 'temperature must be between 0 and 1', param: 'temperature' };
  const times = form.parts.some(([name]) => name === 'timestamp_granularities[]');
  if (times && !mistral && format !== 'verbose_json')
    return {
      message: 'timestamp_granularities needs response_format verbose_json',
      param: 'timestamp_granularities',
    };
  if (times && mistral && of('language') !== undefined)
    return {
      message: 'timestamp_granularities and language exclude each other',
      param: 'language',
    };
  return undefined;
}
