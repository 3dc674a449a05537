import { mebibyte } from '../base/mebibyte.ts';
/** Limits of downloads for clients; docs/reference/config.md lists them under `settings.media`. */
export interface MediaLimits {
  /** Addresses that one request may have downloaded. */
  readonly urlsMax: number;
  readonly fileBytesMax: number;
  /** All downloads of one request together. */
  readonly requestBytesMax: number;
  readonly redirectsMax: number;
  /** From the first lookup of a request's addresses to the last byte of the last of them. */
  readonly totalMs: number;
  /** The longest silence while connecting, waiting or reading. */
  readonly idleMs: number;
  /** Downloads of this process that run at the same time; others wait, within their own time. */
  readonly atOnceMax: number;
  /**
   * Hosts, addresses and networks (`files.internal`, `10.1.2.3`, `10.0.0.0/8`) that may be read
   * although they are not public.
   */
  readonly allowPrivate: readonly string[];
}

export const mediaLimits: MediaLimits = {
  urlsMax: 10,
  fileBytesMax: 20 * mebibyte,
  requestBytesMax: 32 * mebibyte,
  redirectsMax: 3,
  totalMs: 20_000,
  idleMs: 5_000,
  atOnceMax: 16,
  allowPrivate: [],
};

/**
 * Limits of files stored for clients; docs/reference/config.md lists them under `settings.media`,
 * where their names begin with `kept`.
 */
export interface FileLimits {
  /** Files of one account at a time. */
  readonly filesMax: number;
  /** Bytes of all files of one account. */
  readonly bytesMax: number;
  readonly fileBytesMax: number;
  /** How long a file is kept by default. */
  readonly keptMs: number;
  /** A file that is not written within this is given up. */
  readonly writeMs: number;
  /** The longest silence of a host from which a file is copied. */
  readonly idleMs: number;
  /**
   * Files that this process copies from vendors at the same time; others wait, within their own
   * time.
   */
  readonly copiesAtOnceMax: number;
}

export const fileLimits: FileLimits = {
  filesMax: 10_000,
  bytesMax: 10 * 1024 * mebibyte,
  fileBytesMax: 512 * mebibyte,
  keptMs: 86_400_000,
  writeMs: 600_000,
  idleMs: 30_000,
  copiesAtOnceMax: 16,
};

/** Limits of files that clients upload; docs/reference/endpoints.md lists them. */
export interface UploadLimits {
  /** A file travels to vendors in a JSON body, as base64. */
  readonly fileBytesMax: number;
  /** Pieces of one upload: each is read by itself whenever the file is used. */
  readonly piecesMax: number;
  /** Pieces of all files that one request names. */
  readonly piecesOfRequestMax: number;
  /** Uploads of one account that have not ended. */
  readonly underWayMax: number;
  /** An upload that gets no bytes for this long is given up. */
  readonly idleMs: number;
  /** How long a file is kept, from the start of its upload. */
  readonly keptMs: number;
}

export const uploadLimits: UploadLimits = {
  fileBytesMax: 15 * mebibyte,
  piecesMax: 64,
  piecesOfRequestMax: 256,
  underWayMax: 16,
  idleMs: 600_000,
  keptMs: 2 * 86_400_000,
};
