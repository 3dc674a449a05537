import type { WrittenMedia } from './config-schema.ts';
import type { KeptSettings, MediaSettings } from './configuration.ts';

/** Only what is written: defaults are those of whoever downloads and keeps. */
export function mediaSettings(written: WrittenMedia): MediaSettings {
  const { urls, file_bytes, request_bytes, redirects, total_ms, idle_ms, at_once, allow_private } =
    written;
  const kept = keptSettings(written);
  return {
    ...(urls === undefined ? {} : { urlsMax: urls }),
    ...(file_bytes === undefined ? {} : { fileBytesMax: file_bytes }),
    ...(request_bytes === undefined ? {} : { requestBytesMax: request_bytes }),
    ...(redirects === undefined ? {} : { redirectsMax: redirects }),
    ...(total_ms === undefined ? {} : { totalMs: total_ms }),
    ...(idle_ms === undefined ? {} : { idleMs: idle_ms }),
    ...(at_once === undefined ? {} : { atOnceMax: at_once }),
    ...(allow_private === undefined ? {} : { allowPrivate: allow_private }),
    ...(Object.keys(kept).length === 0 ? {} : { kept }),
  };
}

function keptSettings({
  kept_files,
  kept_bytes,
  kept_file_bytes,
  kept_seconds,
}: WrittenMedia): KeptSettings {
  return {
    ...(kept_files === undefined ? {} : { filesMax: kept_files }),
    ...(kept_bytes === undefined ? {} : { bytesMax: kept_bytes }),
    ...(kept_file_bytes === undefined ? {} : { fileBytesMax: kept_file_bytes }),
    ...(kept_seconds === undefined ? {} : { keptMs: kept_seconds * 1_000 }),
  };
}
