import { speechRequestSchema, transcriptionSchemas } from '../audio.ts';
import * as schema from '../schema.ts';

const script = schema.answer(
  { text: schema.string('The transcript.') },
  {
    language: schema.string('Only with `verbose_json`.'),
    duration: { type: 'number', description: 'Seconds.' },
    segments: schema.array('Only with `verbose_json` and `diarized_json`.', { type: 'object' }),
    words: schema.array('If requested.', { type: 'object' }),
    usage: { type: 'object', description: 'Tokens or seconds.' },
  },
);
const captions = schema.string('With `text`, `srt` and `vtt`.');

export const audioOperations: schema.Operations = {
  'POST /audio/transcriptions': {
    id: 'createTranscription',
    tag: 'Audio',
    calls: 'model',
    summary: 'Transcribe speech',
    schemas: {
      TranscriptionForm: transcriptionSchemas.TranscriptionForm,
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
    calls: 'model',
    summary: 'Translate speech into English text',
    schemas: {
      TranslationForm: transcriptionSchemas.TranslationForm,
    },
    body: { 'multipart/form-data': schema.ref('TranslationForm') },
    answer: { 'application/json': schema.ref('Transcription'), 'text/plain': captions },
  },
  'POST /audio/speech': {
    id: 'createSpeech',
    tag: 'Audio',
    calls: 'model',
    summary: 'Turn text into speech',
    schemas: {
      SpeechRequest: speechRequestSchema,
    },
    body: { 'application/json': schema.ref('SpeechRequest') },
    answer: {
      'audio/*': { type: 'string', format: 'binary', description: 'The audio, streamed.' },
      'text/event-stream': schema.string('`speech.audio.delta`, `speech.audio.done`.'),
    },
  },
};
