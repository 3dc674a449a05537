import { assert } from '../base/assert.ts';
import type { Spool } from '../http/spool.ts';
import type { Call } from './adapter.ts';

/** What a recording is, by its bytes. `m4a` and `mp4` are one. */
export const soundFormats = ['wav', 'mp3', 'flac', 'ogg', 'mp4', 'webm'] as const;
export type SoundFormat = (typeof soundFormats)[number];

export const soundTypes: Readonly<Record<SoundFormat, string>> = {
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
  flac: 'audio/flac',
  ogg: 'audio/ogg',
  mp4: 'audio/mp4',
  webm: 'audio/webm',
};

/** How a client wants what was said. */
export const scripts = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'] as const;
export type ScriptFormat = (typeof scripts)[number];

/**
 * A recording that is to be written down, in its own language or in English, as a client wants it,
 * checked. What is undefined was left to the model.
 */
export interface ListenWish {
  readonly file: Spool;
  /** As the client calls it. */
  readonly filename: string;
  readonly type: string;
  /** As its bytes tell. */
  readonly format: SoundFormat;
  readonly seconds: number;
  readonly returns: ScriptFormat;
  readonly language: string | undefined;
  readonly prompt: string | undefined;
  readonly temperature: number | undefined;
  readonly timestamps: readonly ('word' | 'segment')[];
  /** Everything beside file, model and stream, as the client sent it. */
  readonly fields: readonly (readonly [name: string, value: string])[];
}

export const voices = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const;
export type VoiceFormat = (typeof voices)[number];

export const voiceTypes: Readonly<Record<VoiceFormat, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
};

/** A text that is to be read aloud, as a client wants it, checked. */
export interface SpeakWish {
  readonly input: string;
  readonly characters: number;
  readonly voice: string;
  readonly instructions: string | undefined;
  /** Undefined: what the vendor makes, mp3 where it can. */
  readonly format: VoiceFormat | undefined;
  readonly speed: number | undefined;
  /** As events and not as bytes. */
  readonly events: boolean;
}

export function listenOf({ listen }: Call): ListenWish {
  assert(listen !== undefined, 'a call for what was said has a recording');
  return listen;
}

export function speakOf({ speak }: Call): SpeakWish {
  assert(speak !== undefined, 'a call for a voice has a text');
  return speak;
}
