import { clsx } from 'clsx';
import type { ReactNode } from 'react';

/** Drawn on a grid of 16 with strokes of 1.5: one family, no font, no request. */
const paths = {
  overview: 'M2.5 9.5 8 3l5.5 6.5M4 8v5.5h8V8',
  keys: 'M9 9.5a3.5 3.5 0 1 1 1.2-1.2L14 12v2h-2.5v-1.5H10V11zM6 5.5v.01',
  usage: 'M2.5 13.5h11M4.5 13.5V9M8 13.5V3M11.5 13.5V6.5',
  statement: 'M3.5 2.5h9v11l-1.5-1-1.5 1-1.5-1-1.5 1-1.5-1-1.5 1zM6 6h4M6 8.5h4',
  topUp: 'M2 5.5h12v8H2zM2 8h12M8 2v2.5M6.5 3.2 8 4.7l1.5-1.5',
  models: 'M8 1.8 13.5 5v6L8 14.2 2.5 11V5zM2.5 5 8 8l5.5-3M8 8v6',
  playground: 'M3 3.5h10v7H7.5L4.5 13v-2.5H3zM6 7h4',
  tasks: 'M2.5 4h11v8h-11zM6.8 6v4L10 8z',
  settings: 'M2.5 4.5h7M12.5 4.5h1M2.5 11.5h1M6.5 11.5h7M11 3v3M5 10v3M2.5 8h4M9.5 8h4M8 6.5v3',
  more: 'M2.5 8a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0M7.5 8a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0M12.5 8a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0',
  shield: 'M8 1.8 13 3.5V8c0 3-2 5-5 6.2C5 13 3 11 3 8V3.5z',
  pulse: 'M1.5 8.5h3l2-5 3 9 2-4h3',
  channels: 'M2.5 4.5h4l3 7h4M2.5 11.5h4l1-2.3M8.6 6.6l.9-2.1h4',
  groups: 'M2.5 2.5h4.5V7H2.5zM9 2.5h4.5V7H9zM2.5 9H7v4.5H2.5zM9 9h4.5v4.5H9z',
  users:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M11 3a2.2 2.2 0 0 1 0 4.2M12.5 9.8c1.4.6 2 1.9 2 3.7',
  requests: 'M2.5 5.5h10.5M10 2.5l3 3-3 3M13.5 11H3M6 8.5 3 11l3 2.5',
  orders: 'M2 2.5h1.8L5.5 10h6.8l1.4-5.5H4.4M6 13.2v.01M11.5 13.2v.01',
  ledger: 'M8 2.5v11M3 5h10M5 2.5h6M3 5 1.5 9.5h3zM13 5l-1.5 4.5h3zM5.5 13.5h5',
  audit: 'M8 14A6 6 0 1 1 14 8M8 4.5V8l2.2 1.5M11 13l1.3 1.3 2.2-2.8',
  announcements: 'M2.5 6.5v3h2l5 3v-9l-5 3zM12 6a3 3 0 0 1 0 4',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9M10.5 10.5l3 3',
  language: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M2.2 8h11.6M8 2c-4 4-4 8 0 12M8 2c4 4 4 8 0 12',
  sun: 'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6M8 1.5V3M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1',
  moon: 'M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7',
  system: 'M2 3h12v8H2zM5.5 13.5h5M8 11v2.5',
  account: 'M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6M2.5 14c0-3 2.5-4.5 5.5-4.5s5.5 1.5 5.5 4.5',
  signOut: 'M9.5 2.5h-6v11h6M6.5 8h7.5M11.5 5.5 14 8l-2.5 2.5',
  sidebar: 'M2 3h12v10H2zM6.5 3v10',
  copy: 'M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1',
  check: 'M3 8.5 6.5 12 13 4.5',
  close: 'M4 4l8 8M12 4l-8 8',
  plus: 'M8 3v10M3 8h10',
  down: 'M4 6l4 4 4-4',
  up: 'M8 13V3.5M4 7l4-3.5L12 7',
  left: 'M10 3.5 5.5 8l4.5 4.5',
  right: 'M6 3.5 10.5 8 6 12.5',
  filter: 'M2.5 3.5h11L9.5 8.5v4l-3 1.5V8.5z',
  download: 'M8 2.5v8M4.5 7.5 8 11l3.5-3.5M2.5 13.5h11',
  warning: 'M8 2.5 14.5 13.5h-13zM8 6.5v3.5M8 11.8v.01',
  failed: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M8 7.5V11M8 5.2v.01',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M8 4.5V8l2.5 1.5',
  calendar: 'M2.5 3.5h11v10h-11zM2.5 6.5h11M5.5 2v3M10.5 2v3',
  dot: 'M8 10.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  back: 'M6 4 2.5 7.5 6 11M2.5 7.5h7a3.5 3.5 0 0 1 0 7H7',
  none: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M3.8 12.2l8.4-8.4',
  about: 'M2.5 6.2c1.8-2 3.6-2 5.5-.7s3.7 1.3 5.5-.7M2.5 11c1.8-2 3.6-2 5.5-.7s3.7 1.3 5.5-.7',
  help: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13M6.2 6.2a1.8 1.8 0 1 1 2.6 1.7c-.6.3-.8.6-.8 1.3M8 11.2v.1',
  external: 'M9.5 2.5h4v4M13.5 2.5 7.5 8.5M11.5 9.5v4h-9v-9h4',
  play: 'M4.5 2.8 13 8l-8.5 5.2z',
  stop: 'M4 4h8v8H4z',
  refresh: 'M13.5 8A5.5 5.5 0 1 1 11.5 3.8M13.5 2v3h-3',
  trash: 'M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9',
  attach:
    'M13.5 7.5 8 13a3.2 3.2 0 0 1-4.5-4.5L9 3a2.1 2.1 0 0 1 3 3l-5.3 5.3a1.1 1.1 0 0 1-1.5-1.5L10 5',
  link: 'M6.5 9.5l3-3M7.5 4.5 9 3a2.8 2.8 0 0 1 4 4l-1.5 1.5M8.5 11.5 7 13a2.8 2.8 0 0 1-4-4l1.5-1.5',
  edit: 'M2.5 13.5v-3l8-8 3 3-8 8zM9 4l3 3',
} as const;

export type IconName = keyof typeof paths;

/** Decoration: the text beside it, or the `aria-label` of its button, carries the meaning. */
export function Icon({
  name,
  className,
}: {
  readonly name: IconName;
  readonly className?: string | undefined;
}): ReactNode {
  return (
    <svg
      viewBox="0 0 16 16"
      aria-hidden="true"
      className={clsx('size-4 shrink-0 fill-none stroke-current', className)}
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={paths[name]} />
    </svg>
  );
}
