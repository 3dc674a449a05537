import { dayFrom } from '../format/day.ts';

const lookMs = 20_000;
/** A page that was not asked for longer than this has slept: timers of a visible page are on time. */
const sleptMs = 60_000;

/**
 * Calls `stale` when a visible page has slept (a closed lid, a hidden tab), and when a day of the
 * zone begins: "today" is another day then. Returns a function that stops it.
 */
export function watchSleep(zone: string, stale: () => void): () => void {
  let last = Date.now();
  const look = () => {
    if (document.visibilityState === 'hidden') return;
    const now = Date.now();
    const before = last;
    last = now;
    if (now - before > sleptMs || dayFrom(now, 0, zone) !== dayFrom(before, 0, zone)) stale();
  };
  const timer = setInterval(look, lookMs);
  document.addEventListener('visibilitychange', look);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', look);
  };
}
