import type { ReactNode } from 'react';
import type en from '../words/en/shared.ts';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { Icon, type IconName } from './icon.tsx';

type Tone = 'good' | 'accent' | 'idle' | 'warn' | 'bad';

const looks = {
  ok: ['check', 'good'],
  active: ['check', 'good'],
  healthy: ['check', 'good'],
  running: ['dot', 'accent'],
  draining: ['dot', 'accent'],
  refunded: ['back', 'accent'],
  pending: ['clock', 'idle'],
  cooling: ['clock', 'warn'],
  disabled: ['pause', 'idle'],
  parked: ['pause', 'bad'],
  expired: ['clock', 'idle'],
  notCharged: ['none', 'idle'],
  degraded: ['warning', 'warn'],
  limitReached: ['warning', 'warn'],
  cut: ['warning', 'warn'],
  estimated: ['about', 'warn'],
  failed: ['failed', 'bad'],
} as const satisfies Readonly<Record<string, readonly [IconName, Tone]>>;

export type Status = keyof typeof looks;

const tones: Readonly<Record<Tone, string>> = {
  good: 'bg-good-soft text-good',
  accent: 'bg-accent-soft text-accent',
  idle: 'bg-idle-soft text-muted',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
};

/** Those of several families of pages: the shared dictionary has their words. */
export type SharedStatus = keyof typeof en.status;

type StatusBadgeProps =
  | { readonly status: SharedStatus; readonly children?: undefined }
  | { readonly status: Status; readonly children: ReactNode };

/** A state as icon, text and colour: any one of them is enough. `children` is the text. */
export function StatusBadge({ status, children }: StatusBadgeProps): ReactNode {
  const words = useWords(sharedWords);
  const [icon, tone] = looks[status];
  return (
    <Badge icon={icon} tone={tone}>
      {children ?? words.status[status as SharedStatus]}
    </Badge>
  );
}

interface BadgeProps {
  readonly tone?: Tone;
  readonly icon?: IconName;
  readonly children: ReactNode;
}

export function Badge({ tone = 'idle', icon, children }: BadgeProps): ReactNode {
  return (
    <span
      className={`inline-flex max-w-full items-center gap-1 rounded-badge px-1.5 align-middle text-caption font-medium whitespace-nowrap ${tones[tone]}`}
    >
      {icon !== undefined && <Icon name={icon} className="size-3" />}
      {/* Its baseline is that of its text, not of its icon. */}
      <span className="self-baseline truncate">{children}</span>
    </span>
  );
}
