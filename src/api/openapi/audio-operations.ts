import { transcriptFormats } from '../../providers/media-request.ts';
import { speechRequestSchema, translationFormats } from '../audio.ts';
import * as schema from '../schema.ts';

const recording: schema.Schema = {
  type: 'string',
  format: 'binary',
  description: 'flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav or webm, up to 25 MiB.',
};
const transcriptionFields = (
  formats: readonly string[],
): Readonly<Record<string, schema.Schema>> => ({
  prompt: schema.string('Words that may occur.'),
  response_format: schema.choice('How the text comes; `json` by default.', formats),
  temperature: schema.number('Sampling temperature.', 0, 1),
});

const script = schema.answer(
  { text: schema.string('What was said.') },
  {
    language: schema.string('Of `verbose_json`.'),
    duration: { type: 'number', description: 'Seconds.' },
    segments: schema.array('Of `verbose_json` and `diarized_json`.', { type: 'object' }),
    words: schema.array('Where they were asked for.', { type: 'object' }),
    usage: { type: 'object', description: 'Tokens or seconds.' },
  },
);
const captions = schema.string('Of `text`, `srt` and `vtt`.');

export const audioOperations: schema.Operations = {
  'POST /audio/transcriptions': {
    id: 'createTranscription',
    tag: 'Audio',
    summary: 'Write down what is said',
    schemas: {
      TranscriptionForm: {
        ...schema.request(
          { model: schema.string('A model that hears.', { minLength: 1 }), file: recording },
          {
            ...transcriptionFields(transcriptFormats),
            language: schema.string('ISO 639, such as `en` or `zh`.', {
              pattern: '^[A-Za-z]+(?:[-_][A-Za-z0-9]+)*$',
            }),
            stream: schema.choice('Pieces as events.', ['true', 'false']),
            'timestamp_granularities[]': schema.choice(
              'Times of what; with `verbose_json`. May be repeated.',
              ['word', 'segment'],
            ),
            'include[]': schema.choice('What else to tell; with `json`.', ['logprobs']),
          },
        ),
        allOf: [
          schema.onlyWith('timestamp_granularities[]', {
            response_format: { const: 'verbose_json' },
          }),
        ],
      },
      Transcription: script,
    },
    body: { 'multipart/form-data': schema.ref('TranscriptionForm') },
    answer: {
      'application/json': schema.ref('Transcription'),
      'text/plain': captions,
      'text/event-stream': schema.string('`transcript.text.delta`, `transcript.text.done`.'),
    },
  },
  'POST /audio/translations': {
    id: 'createTranslation',
    tag: 'Audio',
    summary: 'Write down in English what is said in any language',
    schemas: {
      TranslationForm: schema.request(
        { model: schema.string('A model that translates.', { minLength: 1 }), file: recording },
        transcriptionFields(translationFormats),
      ),
    },
    body: { 'multipart/form-data': schema.ref('TranslationForm') },
    answer: { 'application/json': schema.ref('Transcription'), 'text/plain': captions },
  },
  'POST /audio/speech': {
    id: 'createSpeech',
    tag: 'Audio',
    summary: 'Read a text aloud',
    schemas: {
      SpeechRequest: speechRequestSchema,
    },
    body: { 'application/json': schema.ref('SpeechRequest') },
    answer: {
      'audio/*': { type: 'string', format: 'binary', description: 'The sound, as it is made.' },
      'text/event-stream': schema.string('`speech.audio.delta`, `speech.audio.done`.'),
    },
  },
};
