import { hash } from '../tokens.ts';
import { mark, wavSeconds } from '../media/wav.ts';

/** The simulator's transcription of a file. */
export interface Transcript {
  readonly text: string;
  readonly seconds: number;
}

const commentWithin = 256 * 1024;
const bytesPerSecond = 16_000;
const strangers = [
  'Somebody says a few words here.',
  'The sun was setting over an empty field.',
  'We met at noon and spoke for a while.',
];

const formats: readonly RegExp[] = [
  /^RIFF[^]{4}WAVE/,
  /^ID3/,
  /^\xff[\xe2-\xff]/,
  /^fLaC/,
  /^OggS/,
  /^[^]{4}ftyp/,
  /^\x1aE\xdf\xa3/,
];

/**
 * The text of a recording; undefined when the file is no audio. The simulator's own audio carries
 * its text in a comment; other files get a constant text.
 */
export function transcriptOf(file: Buffer): Transcript | undefined {
  const head = file.toString('latin1', 0, 16);
  if (!formats.some((format) => format.test(head))) return undefined;
  const at = file.subarray(0, commentWithin).indexOf(mark);
  const end = at < 0 ? -1 : file.indexOf(0, at);
  const text =
    end < 0
      ? (strangers[hash(String(file.length)) % strangers.length] ?? '')
      : file.toString('utf8', at + mark.length, end);
  const seconds = head.startsWith('RIFF') ? (wavSeconds(file) ?? 0) : file.length / bytesPerSecond;
  return { text, seconds };
}

export interface Timed {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** The times of words: each takes time in proportion to its letters. */
export function timed({ text, seconds }: Transcript): Timed[] {
  const words = text.split(/\s+/).filter(Boolean);
  const letters = words.reduce((sum, word) => sum + word.length, 0) || 1;
  let lettersBefore = 0;
  return words.map((word) => {
    const start = (lettersBefore / letters) * seconds;
    lettersBefore += word.length;
    return { word, start: round(start), end: round((lettersBefore / letters) * seconds) };
  });
}

const round = (seconds: number): number => Math.round(seconds * 1_000) / 1_000;

/** The sentences of a transcription, with their times. */
export function sentences(transcript: Transcript): {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly words: readonly Timed[];
}[] {
  const made: { text: string; start: number; end: number; words: Timed[] }[] = [];
  let open = false;
  for (const one of timed(transcript)) {
    const last = made.at(-1);
    if (open && last !== undefined) {
      last.text += ` ${one.word}`;
      last.end = one.end;
      last.words.push(one);
    } else made.push({ text: one.word, start: one.start, end: one.end, words: [one] });
    open = !/[.!?]$/.test(one.word);
  }
  return made;
}
