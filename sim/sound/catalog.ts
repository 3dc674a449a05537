import { modelLine, readTable } from '../catalog-lines.ts';

/** Audio models, at list prices of November 2026, US dollars at 7.1 yuan. */
const table = `
  whisper-1                  openai      openai     =                        transcription second: 0.00071
  gpt-4o-transcribe          openai      openai     =                        transcription input: 17.75, audio_input: 42.6, output: 71
  gpt-4o-transcribe-diarize  openai      openai     =                        transcription input: 17.75, audio_input: 42.6, output: 71
  gpt-4o-mini-transcribe     azure       openai     =                        transcription input: 8.875, audio_input: 21.3, output: 35.5
  whisper-large-v3           groq        openai     =                        transcription second: 0.00021892
  voxtral-mini-2602          mistral     mistral    =                        transcription second: 0.000355
  openai/whisper-large-v3    together    openai     =                        transcription second: 0.0001775
  sensevoice-small           siliconflow qwen       FunAudioLLM/SenseVoiceSmall transcription second: 0.0001
  glm-asr-2512               zhipu       zhipu      =                        transcription second: 0.00016
  openai/whisper-1           openrouter  openai     =                        transcription second: 0.00071
  whisper-local              vllm        openai     openai/whisper-large-v3-turbo transcription second: 0.0001
  qwen3-asr-flash            qwen        qwen       =                        transcription input: 0.2485, output: 0.2485
  grok-stt                   xai         xai        =                        transcription second: 0.0001988
  scribe_v2                  elevenlabs  elevenlabs =                        transcription second: 0.000434
  nova-3                     deepgram    deepgram   =                        transcription second: 0.00050884
  tts-1                      openai      openai     =                        speech        character: 0.0001065
  gpt-4o-mini-tts            openai      openai     =                        speech        input: 4.26, audio_output: 85.2
  gpt-4o-mini-tts-azure      azure       openai     gpt-4o-mini-tts          speech        input: 4.26, audio_output: 85.2
  orpheus-english            groq        canopylabs canopylabs/orpheus-v1-english speech   character: 0.000156
  voxtral-mini-tts-2603      mistral     mistral    =                        speech        character: 0.0001136
  kokoro                     together    hexgrad    hexgrad/Kokoro-82M       speech        character: 0.0000284
  cosyvoice2                 siliconflow qwen       FunAudioLLM/CosyVoice2-0.5B speech     character: 0.00005
  glm-tts                    zhipu       zhipu      =                        speech        character: 0.0002
  speech-2.8-turbo           minimax     minimax    =                        speech        character: 0.000426
  qwen3-tts-flash            qwen        qwen       =                        speech        character: 0.00008
  grok-tts                   xai         xai        =                        speech        character: 0.0001065
  eleven_flash_v2_5          elevenlabs  elevenlabs =                        speech        character: 0.000355
  aura-2-thalia-en           deepgram    deepgram   =                        speech        character: 0.000213
  gemini-2.5-flash-preview-tts gemini    google     =                        speech        input: 3.55, audio_output: 71
`;

export const soundModels = readTable(table, ([kind = '', ...price]) => ({
  kind,
  price: price.join(' '),
}));

/** The base URL paths of vendors that only have audio. */
export const soundAlone = [
  { vendor: 'elevenlabs', prefix: '/elevenlabs/v1' },
  { vendor: 'deepgram', prefix: '/deepgram/v1' },
] as const;

/** Their lines in a configuration file. */
export const soundModelLines = (): string[] =>
  soundModels.map((model) => modelLine(model, model.kind, '', model.price));
