import { landscape, portrait, ticks } from './films.ts';

/** Width and height give the video's shape, not its size. */
interface VideoFacts {
  readonly seconds: number;
  readonly width: number;
  readonly height: number;
}

/**
 * An MP4 file of that many seconds, which every player plays: the same images for any length, by a
 * slower clock.
 */
export function mp4Of({ seconds, width, height }: VideoFacts): Buffer {
  const film = Buffer.from(width < height ? portrait : landscape, 'base64');
  // The ticks a second of the movie and of its track (ISO/IEC 14496-12, 8.2.2 and 8.4.2).
  for (const box of ['mvhd', 'mdhd'])
    film.writeUInt32BE(Math.round(ticks / seconds), film.indexOf(box) + 16);
  return film;
}
