import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

type Tone = 'accent' | 'good' | 'warn' | 'bad';

const tones: Readonly<Record<Tone, string>> = {
  accent: 'bg-accent-soft',
  good: 'bg-good-soft',
  warn: 'bg-warn-soft',
  bad: 'bg-bad-soft',
};

const icons: Readonly<Record<Tone, readonly [IconName, string]>> = {
  accent: ['info', 'mt-0.5 text-accent'],
  good: ['check', 'mt-0.5 text-good'],
  warn: ['warning', 'mt-0.5 text-warn'],
  bad: ['failed', 'mt-0.5 text-bad'],
};

/** A notice above the content of a page. */
export function Banner({
  tone,
  children,
  action,
}: {
  readonly tone: Tone;
  readonly children: ReactNode;
  readonly action?: ReactNode;
}): ReactNode {
  const [icon, className] = icons[tone];
  return (
    <div
      className={`flex items-start gap-2 rounded-control px-3 py-2 text-table text-text ${tones[tone]}`}
    >
      <Icon name={icon} className={className} />
      <div className="min-w-0 flex-1 self-center">{children}</div>
      {action}
    </div>
  );
}
