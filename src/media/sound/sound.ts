import type { Spool } from '../../http/spool.ts';
import { flacSeconds } from './flac.ts';
import { afterTags, frameAt, mp3Seconds } from './mp3.ts';
import { mp4Seconds } from './mp4.ts';
import { oggSeconds } from './ogg.ts';
import { Source } from './source.ts';
import { wavSeconds } from './wav.ts';
import { webmSeconds } from './webm.ts';

export interface Sound {
  readonly format: 'wav' | 'mp3' | 'flac' | 'ogg' | 'mp4' | 'webm';
  readonly seconds: number;
}

const readers: Readonly<Record<Sound['format'], (source: Source) => Promise<number | undefined>>> =
  {
    wav: wavSeconds,
    mp3: mp3Seconds,
    flac: flacSeconds,
    ogg: oggSeconds,
    mp4: mp4Seconds,
    webm: webmSeconds,
  };

/** Nobody speaks for longer into one file. */
const secondsMax = 7 * 24 * 3_600;
/**
 * Sound in Ogg has no more bytes a second: what its last page says cannot make a recording shorter
 * than its bytes.
 */
const oggBytesPerSecondMax = 64_000;

/**
 * What a recording is and how long, by its bytes alone; `strange`: it is none that is known,
 * `unreadable`: it is one that is broken or empty. Little is read of it, and a bounded number of
 * times.
 */
export async function soundOf(
  spool: Pick<Spool, 'size' | 'slice'>,
): Promise<Sound | 'strange' | 'unreadable'> {
  const source = new Source(spool);
  const format = await formatOf(source);
  if (format === undefined) return 'strange';
  const seconds = await readers[format](source);
  if (seconds === undefined || !(seconds > 0 && seconds <= secondsMax)) return 'unreadable';
  return {
    format,
    seconds: format === 'ogg' ? Math.max(seconds, source.size / oggBytesPerSecondMax) : seconds,
  };
}

async function formatOf(source: Source): Promise<Sound['format'] | undefined> {
  const head = await source.bytes(0, 16);
  const text = head.toString('latin1');
  if (/^(?:RIFF|RF64)[^]{4}WAVE/.test(text)) return 'wav';
  if (text.startsWith('fLaC')) return 'flac';
  if (text.startsWith('OggS')) return 'ogg';
  if (text.slice(4, 8) === 'ftyp') return 'mp4';
  if (head.readUInt32BE(0) === 0x1a45dfa3) return 'webm';
  if (text.startsWith('ID3'))
    return (await source.bytes(await afterTags(source), 4)).toString('latin1') === 'fLaC'
      ? 'flac'
      : 'mp3';
  return frameAt(head) === undefined ? undefined : 'mp3';
}
