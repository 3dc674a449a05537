import { speechRequestSchema, transcriptionSchemas } from '../audio.ts';
import * as schema from '../schema.ts';

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
    summary: 'Write down in English what is said in any language',
    schemas: {
      TranslationForm: transcriptionSchemas.TranslationForm,
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
