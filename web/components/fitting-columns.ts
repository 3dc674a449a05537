import { type RefObject, useEffect, useLayoutEffect, useState } from 'react';

interface MaybeSpare {
  readonly id: string;
  readonly spare?: number;
}

/**
 * The columns that have room in `box`, and the ids of the others: where it would scroll sideways,
 * the spare ones are left out before the page is painted, the highest number first. Other rows
 * (`rowsKey`) are tried with all columns again, as they may be shorter.
 */
export function useFittingColumns<Each extends MaybeSpare>(
  box: RefObject<HTMLElement | null>,
  columns: readonly Each[],
  rowsKey: string,
): readonly [fitting: readonly Each[], leftOut: readonly string[]] {
  const spare = columns
    .filter((column) => column.spare !== undefined)
    .toSorted((a, b) => (b.spare ?? 0) - (a.spare ?? 0))
    .map(({ id }) => id);
  const [left, setLeft] = useState({ of: '', count: 0 });
  const widths = useWidths(box);
  useLayoutEffect(() => {
    const place = box.current;
    if (place === null) return;
    // The outer width: a scroll bar that comes or goes with a column changes the inner one.
    const of = [place.offsetWidth, ...columns.map(({ id }) => id), rowsKey].join(' ');
    // Other rows set the widths of their columns anew (see `useSteadyWidths`).
    if (of !== left.of) for (const cell of place.querySelectorAll('th')) cell.style.minWidth = '';
    const isWider = place.scrollWidth > place.clientWidth;
    const count = of === left.of ? left.count + Number(isWider) : 0;
    if (of === left.of && (count === left.count || count > spare.length)) return;
    // Only drawn columns have widths.
    // oxlint-disable-next-line react/set-state-in-effect
    setLeft({ of, count });
  }, [box, columns, rowsKey, spare.length, left, widths]);
  const out = spare.slice(0, left.count);
  return [columns.filter(({ id }) => !out.includes(id)), out];
}

/** Changes with the widths of the box and of what is in it: a font or longer rows may come later. */
function useWidths(box: RefObject<HTMLElement | null>): string {
  const [widths, setWidths] = useState('');
  useEffect(() => {
    const place = box.current;
    if (place === null) return undefined;
    const observer = new ResizeObserver(() =>
      setWidths(`${place.clientWidth} ${place.scrollWidth}`),
    );
    for (const each of [place, ...place.children]) observer.observe(each);
    return () => observer.disconnect();
  }, [box]);
  return widths;
}
