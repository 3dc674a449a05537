/**
 * A new process is slow: V8 compiles what is called often, on threads of the same processor. It is
 * steady when several slices in a row have about the same throughput, or after the maximum of
 * slices.
 */
const sliceSeconds = 2;
const slices = { inARow: 3, within: 0.05, most: 15 };

/** `load`: runs for so many seconds and resolves with the throughput. Resolves with the seconds. */
export async function untilSteady(load: (seconds: number) => Promise<number>): Promise<number> {
  const rates: number[] = [];
  for (;;) {
    rates.push(await load(sliceSeconds));
    const last = rates.slice(-slices.inARow);
    const least = Math.min(...last);
    const steady =
      last.length === slices.inARow &&
      least > 0 &&
      Math.max(...last) <= least * (1 + slices.within);
    if (steady || rates.length === slices.most) return rates.length * sliceSeconds;
  }
}
