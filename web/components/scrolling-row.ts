import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';

/**
 * A row of links or tabs that may have no room, for an element with the class `fading`: the one that
 * is open is scrolled into view, and the row fades out at the sides where it goes on.
 */
export function useScrollingRow<Row extends HTMLElement>(open: string): RefObject<Row | null> {
  const row = useRef<Row>(null);
  useLayoutEffect(() => {
    const box = row.current;
    const shown = box?.querySelector<HTMLElement>('[aria-selected="true"], [aria-current]');
    if (box && shown) box.scrollLeft = shown.offsetLeft - (box.clientWidth - shown.offsetWidth) / 2;
  }, [open]);
  useEffect(() => {
    const box = row.current;
    if (box === null) return undefined;
    const mark = () => {
      const more = box.scrollWidth - box.clientWidth - box.scrollLeft;
      box.toggleAttribute('data-more-before', box.scrollLeft > 1);
      box.toggleAttribute('data-more-after', more > 1);
    };
    const resized = new ResizeObserver(mark);
    for (const each of [box, ...box.children]) resized.observe(each);
    box.addEventListener('scroll', mark, { passive: true });
    return () => {
      resized.disconnect();
      box.removeEventListener('scroll', mark);
    };
  }, []);
  return row;
}
