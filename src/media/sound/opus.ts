const framesMs = [10, 20, 40, 60];
const shortMs = [2.5, 5, 10, 20];
/** No packet has more. */
const packetMsMax = 120;

/**
 * Seconds of a packet of Opus (RFC 6716 §3.1): its first byte tells how long a frame is and how
 * many there are; its second, where there may be more than two.
 */
export function packetSeconds(first: number, second: number): number {
  const config = first >> 3;
  const ms =
    config < 12 ? framesMs[config & 3] : config < 16 ? framesMs[config & 1] : shortMs[config & 3];
  const code = first & 3;
  const frames = code === 0 ? 1 : code < 3 ? 2 : second & 63;
  return Math.min(packetMsMax, frames * (ms ?? 0)) / 1_000;
}
