import type { Spool } from '../http/spool.ts';

/** A checked request for images, of any endpoint. The model decides about undefined members. */
export interface ImageRequest {
  /** Empty where the client wants only variations of an image. */
  readonly prompt: string;
  readonly n: number;
  readonly size: ImageSize | undefined;
  /** `standard`, `hd`, `low`, `medium`, `high`, … as the client wrote it. */
  readonly quality: string | undefined;
  /** How the client gets the images; a vendor that offers both forms is requested to use it. */
  readonly returns: 'url' | 'b64_json' | 'both';
  /** The number of previews of a streamed image. */
  readonly partials: number;
  /** The images to edit or to use as examples. */
  readonly images: readonly InputImage[];
  /** As large as the first image; its transparent area is painted over. */
  readonly mask: InputImage | undefined;
}

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/**
 * An image that the client gave. Its bytes were checked: they have the type `type` and this size.
 */
export interface InputImage extends ImageSize {
  readonly type: 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif';
  readonly bytes: Buffer;
}

/** Vendors' names of sizes: about one, four and sixteen megapixels. */
export const imageResolutions = [
  { name: '1K', pixelsMax: 2_400_000 },
  { name: '2K', pixelsMax: 6_500_000 },
  { name: '4K', pixelsMax: Infinity },
] as const;

export function imageResolutionOf({
  width,
  height,
}: ImageSize): (typeof imageResolutions)[number]['name'] {
  return imageResolutions.find(({ pixelsMax }) => width * height <= pixelsMax)?.name ?? '4K';
}

export const dataUrl = ({ type, bytes }: InputImage): string =>
  `data:${type};base64,${bytes.toString('base64')}`;

export const imageSizeText = ({ width, height }: ImageSize, between = 'x'): string =>
  `${width}${between}${height}`;

/** The formats of a recording, recognized by its bytes. `m4a` and `mp4` are one. */
const audioFormats = ['wav', 'mp3', 'flac', 'ogg', 'mp4', 'webm'] as const;
type AudioFormat = (typeof audioFormats)[number];

export const audioContentTypes: Readonly<Record<AudioFormat, string>> = {
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
  flac: 'audio/flac',
  ogg: 'audio/ogg',
  mp4: 'audio/mp4',
  webm: 'audio/webm',
};

/** The formats of a transcript. */
export const transcriptFormats = [
  'json',
  'text',
  'srt',
  'verbose_json',
  'vtt',
  'diarized_json',
] as const;
export type TranscriptFormat = (typeof transcriptFormats)[number];

/**
 * A checked request to transcribe a recording, in its own language or in English. The model decides
 * about undefined members.
 */
export interface TranscriptionRequest {
  readonly file: Spool;
  /** The client's name for the file. */
  readonly filename: string;
  readonly type: string;
  /** Recognized by the file's bytes. */
  readonly format: AudioFormat;
  readonly seconds: number;
  readonly returns: TranscriptFormat;
  readonly language: string | undefined;
  readonly prompt: string | undefined;
  readonly temperature: number | undefined;
  readonly timestamps: readonly ('word' | 'segment')[];
  /** Everything beside file, model and stream, as the client sent it. */
  readonly fields: readonly (readonly [name: string, value: string])[];
}

export const speechFormats = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const;
export type SpeechFormat = (typeof speechFormats)[number];

export const speechContentTypes: Readonly<Record<SpeechFormat, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
};

/** A checked request to read a text aloud. */
export interface SpeechRequest {
  readonly input: string;
  readonly characters: number;
  readonly voice: string;
  readonly instructions: string | undefined;
  /** Undefined: the vendor's own format, mp3 where it can. */
  readonly format: SpeechFormat | undefined;
  readonly speed: number | undefined;
  /** The client wants events instead of bytes. */
  readonly events: boolean;
}

/** A checked request for a video, in any format. The model decides about undefined members. */
export interface VideoRequest {
  readonly prompt: string;
  readonly negativePrompt: string | undefined;
  readonly seconds: number;
  /** `1280x720`: width and height in pixels. */
  readonly size: string | undefined;
  /** `16:9`. Where there is a size, it is that of the size. */
  readonly aspectRatio: string | undefined;
  /**
   * `480p`, `720p`, `1080p`, `2k`, `4k`: the shorter side. Where there is a size, it is that of the
   * size.
   */
  readonly resolution: string | undefined;
  /** With sound. */
  readonly audio: boolean | undefined;
  readonly seed: number | undefined;
  readonly images: readonly VideoImage[];
  /**
   * Members that the client sent beside these. An adapter sends those that it knows and that its
   * variants price. Any other might cost what nobody pays for.
   */
  readonly more: Readonly<Record<string, unknown>>;
}

/** An image that the video begins or ends with, or whose subjects it shows. */
export interface VideoImage {
  readonly role: 'first' | 'last' | 'reference';
  /**
   * `https://…`, or `data:…;base64,…`: always the latter where `needsBytes` wants it, and for files
   * that the client sent.
   */
  readonly url: string;
}

/**
 * The reason why this vendor's model cannot make such a video: the client's 400 where no channel
 * can. `why` is a sentence that says what is allowed.
 */
export interface VideoMisfit {
  readonly param:
    | 'duration'
    | 'size'
    | 'aspect_ratio'
    | 'resolution'
    | 'audio'
    | 'image'
    | 'prompt';
  readonly why: string;
}
