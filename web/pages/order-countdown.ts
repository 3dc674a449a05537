import { useEffect, useState } from 'react';

const tickMs = 1000;

/** Whole seconds until an instant, 0 once it is past; counts down by itself while `runs`. */
export function useSecondsLeft(until: string, runs: boolean): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    if (!runs) return undefined;
    const timer = setInterval(() => setNowMs(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, [runs]);
  return Math.max(0, Math.ceil((Date.parse(until) - nowMs) / tickMs));
}

/** `14:05`. */
export function countdownText(seconds: number): string {
  return `${String(Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}`;
}
