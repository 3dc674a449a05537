import { transcriptFormats } from '../../providers/media-request.ts';
import { speechRequestSchema, translationFormats } from '../audio.ts';
import {
  type Operations,
  answerSchema,
  requestSchema,
  arraySchema,
  numberSchema,
  onlyWith,
  schemaRef,
  type Schema,
  stringSchema,
  enumSchema,
} from './schema.ts';

const recording: Schema = {
  type: 'string',
  format: 'binary',
  description: 'flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav or webm, up to 25 MiB.',
};
const transcriptionFields = (formats: readonly string[]): Readonly<Record<string, Schema>> => ({
  prompt: stringSchema('Words that may occur.'),
  response_format: enumSchema('How the text comes; `json` by default.', formats),
  temperature: numberSchema('Sampling temperature.', 0, 1),
});

const script = answerSchema(
  { text: stringSchema('What was said.') },
  {
    language: stringSchema('Of `verbose_json`.'),
    duration: { type: 'number', description: 'Seconds.' },
    segments: arraySchema('Of `verbose_json` and `diarized_json`.', { type: 'object' }),
    words: arraySchema('Where they were asked for.', { type: 'object' }),
    usage: { type: 'object', description: 'Tokens or seconds.' },
  },
);
const captions = stringSchema('Of `text`, `srt` and `vtt`.');

export const audioOperations: Operations = {
  'POST /audio/transcriptions': {
    id: 'createTranscription',
    tag: 'Audio',
    summary: 'Write down what is said',
    schemas: {
      TranscriptionForm: {
        ...requestSchema(
          { model: stringSchema('A model that hears.', { minLength: 1 }), file: recording },
          {
            ...transcriptionFields(transcriptFormats),
            language: stringSchema('ISO 639, such as `en` or `zh`.', {
              pattern: '^[A-Za-z]+(?:[-_][A-Za-z0-9]+)*$',
            }),
            stream: enumSchema('Pieces as events.', ['true', 'false']),
            'timestamp_granularities[]': enumSchema(
              'Times of what; with `verbose_json`. May be repeated.',
              ['word', 'segment'],
            ),
            'include[]': enumSchema('What else to tell; with `json`.', ['logprobs']),
          },
        ),
        allOf: [
          onlyWith('timestamp_granularities[]', { response_format: { const: 'verbose_json' } }),
        ],
      },
      Transcription: script,
    },
    body: { 'multipart/form-data': schemaRef('TranscriptionForm') },
    answer: {
      'application/json': schemaRef('Transcription'),
      'text/plain': captions,
      'text/event-stream': stringSchema('`transcript.text.delta`, `transcript.text.done`.'),
    },
  },
  'POST /audio/translations': {
    id: 'createTranslation',
    tag: 'Audio',
    summary: 'Write down in English what is said in any language',
    schemas: {
      TranslationForm: requestSchema(
        { model: stringSchema('A model that translates.', { minLength: 1 }), file: recording },
        transcriptionFields(translationFormats),
      ),
    },
    body: { 'multipart/form-data': schemaRef('TranslationForm') },
    answer: { 'application/json': schemaRef('Transcription'), 'text/plain': captions },
  },
  'POST /audio/speech': {
    id: 'createSpeech',
    tag: 'Audio',
    summary: 'Read a text aloud',
    schemas: {
      SpeechRequest: speechRequestSchema,
    },
    body: { 'application/json': schemaRef('SpeechRequest') },
    answer: {
      'audio/*': { type: 'string', format: 'binary', description: 'The sound, as it is made.' },
      'text/event-stream': stringSchema('`speech.audio.delta`, `speech.audio.done`.'),
    },
  },
};
