import type { ReactNode } from 'react';
import { encode } from 'uqr';

/** Modules of white around it, as the standard wants. */
const quietModules = 4;

/** A QR code, black on white whatever the theme: cameras read no other. */
export function QrCode({
  text,
  label,
}: {
  readonly text: string;
  readonly label: string;
}): ReactNode {
  const { data, size } = encode(text, { ecc: 'M', border: quietModules });
  const path = data
    .flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])))
    .join('');
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="size-56 rounded-control border border-line bg-[#fff] fill-[#000]"
    >
      <path d={path} />
    </svg>
  );
}
