import { useRouter } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useMe } from '../api/data.ts';
import { userDestinations } from './navigation.ts';

export type Overlay = 'palette' | 'shortcuts';
const goWithinMs = 1000;

/**
 * `Ctrl K` always; single letters unless they are switched off, and never during typing or in a
 * dialog.
 */
export function useShortcuts(open: (overlay: Overlay) => void): void {
  const router = useRouter();
  const { shortcuts } = useMe().settings;
  const goAt = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.isComposing || event.altKey) return;
      if (event.ctrlKey || event.metaKey) {
        if (event.key.toLowerCase() !== 'k') return;
        event.preventDefault();
        open('palette');
        return;
      }
      if (!shortcuts || isTyping(event.target) || dialogIsOpen()) return;
      const destination =
        event.timeStamp - goAt.current < goWithinMs &&
        userDestinations.find(({ letter }) => letter === event.key);
      goAt.current = event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY;
      if (destination) router.history.push(destination.path);
      else if (event.key === '?') open('shortcuts');
      else if (!press(event.key)) return;
      event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [router, shortcuts, open]);
}

/** Keys that press elements of the page: the elements carry `data-shortcut` or `data-page`. */
const pressed: Readonly<Record<string, string>> = {
  '/': '[data-shortcut="filter"]',
  c: '[data-shortcut="create"]',
  '[': '[data-page="newer"]',
  ']': '[data-page="older"]',
};

function press(key: string): boolean {
  if (key === 'j' || key === 'k') return moveRow(key === 'j' ? 1 : -1);
  const target = document.querySelector<HTMLElement>(pressed[key] ?? ':not(*)');
  if (target instanceof HTMLInputElement) target.focus();
  else target?.click();
  return target !== null;
}

function moveRow(step: number): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row-link]')];
  const at = rows.findIndex((row) => row === document.activeElement);
  const next = rows[at === -1 ? 0 : Math.min(Math.max(at + step, 0), rows.length - 1)];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
  return next !== undefined;
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest('input, textarea, select, [role="menu"]') !== null)
  );
}

function dialogIsOpen(): boolean {
  return document.querySelector('[role="dialog"], [role="alertdialog"]') !== null;
}
