import type { WrittenMedia } from './config-schema.ts';
import type { MediaSettings } from './configuration.ts';

/** Only what is written: defaults are those of whoever downloads. */
export function mediaSettings(written: WrittenMedia): MediaSettings {
  const { urls, file_bytes, request_bytes, redirects, total_ms, idle_ms, at_once, allow_private } = written;
  return {
    ...(urls === undefined ? {} : { urlsMax: urls }),
    ...(file_bytes === undefined ? {} : { fileBytesMax: file_bytes }),
    ...(request_bytes === undefined ? {} : { requestBytesMax: request_bytes }),
    ...(redirects === undefined ? {} : { redirectsMax: redirects }),
    ...(total_ms === undefined ? {} : { totalMs: total_ms }),
    ...(idle_ms === undefined ? {} : { idleMs: idle_ms }),
    ...(at_once === undefined ? {} : { atOnceMax: at_once }),
    ...(allow_private === undefined ? {} : { allowPrivate: allow_private }),
  };
}
