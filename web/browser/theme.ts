import { useSyncExternalStore } from 'react';
import { remember } from './cookies.ts';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const listeners = new Set<() => void>();

function theme(): Theme {
  const written = document.documentElement.dataset['theme'];
  return themes.find((known) => known === written) ?? 'system';
}

export function setTheme(next: Theme): void {
  document.documentElement.dataset['theme'] = next;
  remember('tollgate_theme', next);
  for (const listener of listeners) listener();
}

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, theme);
}

/** Calls `listener` at every change of colours, the system's too: canvases must be drawn again. */
export function onColours(listener: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  listeners.add(listener);
  system.addEventListener('change', listener);
  return () => {
    listeners.delete(listener);
    system.removeEventListener('change', listener);
  };
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
