import { type RefObject, useLayoutEffect, useState } from 'react';

/** Shorter lists are drawn whole. */
const virtualFrom = 100;
const usualHeightPx = 36;
/** Rows that are drawn above and below those in view. */
const spare = 12;
const shownAtFirst = 40;

export interface VirtualRows {
  /** The rows to draw: from `first`, up to `end` and without it. */
  readonly first: number;
  readonly end: number;
  /** The heights of what is not drawn, above and below. */
  readonly abovePx: number;
  readonly belowPx: number;
}

/**
 * The rows of a long list that are near the view of `box`, which scrolls. Measures the rows
 * (`[data-row]`) that are drawn: their heights may differ.
 */
export function useVirtualRows(
  box: RefObject<HTMLElement | null>,
  count: number,
): VirtualRows | undefined {
  const virtual = count > virtualFrom;
  const [heights, setHeights] = useState<readonly number[]>([]);
  const [view, setView] = useState({ topPx: 0, heightPx: shownAtFirst * usualHeightPx });
  useLayoutEffect(() => {
    const place = box.current;
    if (!virtual || place === null) return undefined;
    const look = () => setView({ topPx: place.scrollTop, heightPx: place.clientHeight });
    look();
    place.addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    return () => {
      place.removeEventListener('scroll', look);
      removeEventListener('resize', look);
    };
  }, [box, virtual]);
  const rows = virtual ? near(heights, count, view) : undefined;
  useLayoutEffect(() => {
    if (rows === undefined) return;
    const drawn = [...(box.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
    const measured = drawn.map((row) => row.offsetHeight);
    if (measured.every((height, index) => height === heights[rows.first + index])) return;
    const next = [...heights];
    for (const [index, height] of measured.entries()) next[rows.first + index] = height;
    // Only drawn rows have heights; the second drawing is before the paint.
    // oxlint-disable-next-line react/set-state-in-effect
    setHeights(next);
  }, [box, rows, heights]);
  return rows;
}

function near(
  heights: readonly number[],
  count: number,
  { topPx, heightPx }: { readonly topPx: number; readonly heightPx: number },
): VirtualRows {
  const tops = [0];
  for (let i = 0; i < count; i++) tops.push((tops[i] ?? 0) + (heights[i] ?? usualHeightPx));
  const firstBelow = (px: number) => {
    const at = tops.findIndex((top) => top > px);
    return at === -1 ? count : at;
  };
  const first = Math.max(0, firstBelow(topPx) - 1 - spare);
  const end = Math.min(count, firstBelow(topPx + heightPx) + spare);
  const totalPx = tops[count] ?? 0;
  return { first, end, abovePx: tops[first] ?? 0, belowPx: totalPx - (tops[end] ?? totalPx) };
}
