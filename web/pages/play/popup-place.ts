import { type CSSProperties, type RefObject, useLayoutEffect, useState } from 'react';

const gapPx = 4;
const marginPx = 8;
const widestPx = 480;
const highestPx = 420;

/**
 * Where a list belongs that opens at a field, whatever the field stands in: below it, or above it
 * where there is more room. It follows when the page scrolls.
 */
export function usePlace(open: boolean, field: RefObject<HTMLElement | null>): CSSProperties {
  const [place, setPlace] = useState<CSSProperties>({});
  useLayoutEffect(() => {
    if (!open) return undefined;
    const measure = () => {
      if (field.current) setPlace(placeAt(field.current.getBoundingClientRect()));
    };
    measure();
    window.addEventListener('resize', measure);
    window.addEventListener('scroll', measure, true);
    return () => {
      window.removeEventListener('resize', measure);
      window.removeEventListener('scroll', measure, true);
    };
  }, [open, field]);
  return place;
}

function placeAt({ left, top, bottom, width: own }: DOMRect): CSSProperties {
  const width = Math.min(Math.max(own, widestPx), innerWidth - 2 * marginPx);
  const below = innerHeight - bottom - gapPx - marginPx;
  const above = top - gapPx - marginPx;
  const side = {
    left: Math.max(marginPx, Math.min(left, innerWidth - width - marginPx)),
    width,
  };
  return below >= Math.min(above, highestPx)
    ? { ...side, top: bottom + gapPx, maxHeight: Math.min(below, highestPx) }
    : { ...side, bottom: innerHeight - top + gapPx, maxHeight: Math.min(above, highestPx) };
}
