import { type RefObject, useLayoutEffect, useState } from 'react';

/** Shorter lists are drawn whole. */
const virtualFrom = 100;
const usualHeightPx = 36;
/** Rows that are drawn above and below those in view. */
const spare = 12;
const shownAtFirst = 40;
/** `aria-rowindex` of the first row below the header. */
const firstRowIndex = 2;

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
 * (`[data-row]`, with `aria-rowindex`) that are drawn: their heights may differ.
 */
export function useVirtualRows(
  box: RefObject<HTMLElement | null>,
  count: number,
): VirtualRows | undefined {
  const virtual = count > virtualFrom;
  const [view, setView] = useState<View>({
    topPx: 0,
    heightPx: shownAtFirst * usualHeightPx,
    heights: [],
  });
  useLayoutEffect(() => {
    const place = box.current;
    if (!virtual || place === null) return undefined;
    const heights: number[] = [];
    const look = (): void => {
      for (const row of place.querySelectorAll<HTMLElement>('[data-row]'))
        heights[Number(row.ariaRowIndex) - firstRowIndex] = row.offsetHeight;
      setView({ topPx: place.scrollTop, heightPx: place.clientHeight, heights: [...heights] });
    };
    look();
    place.addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    return () => {
      place.removeEventListener('scroll', look);
      removeEventListener('resize', look);
    };
  }, [box, virtual]);
  return virtual ? near(view, count) : undefined;
}

interface View {
  readonly topPx: number;
  readonly heightPx: number;
  /** The rows' heights, as far as they were drawn. */
  readonly heights: readonly (number | undefined)[];
}

function near({ topPx, heightPx, heights }: View, count: number): VirtualRows {
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
