import { useSyncExternalStore } from 'react';
import { remember } from './cookies.ts';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const listeners = new Set<() => void>();

export function theme(): Theme {
  const written = document.documentElement.dataset['theme'];
  return themes.find((known) => known === written) ?? 'system';
}

export function setTheme(next: Theme): void {
  document.documentElement.dataset['theme'] = next;
  remember('tollgate_theme', next);
  for (const tell of listeners) tell();
}

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, theme);
}

/** Calls `tell` at every change of colours, the system's too: canvases must be drawn again. */
export function onColours(tell: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  listeners.add(tell);
  system.addEventListener('change', tell);
  return () => {
    listeners.delete(tell);
    system.removeEventListener('change', tell);
  };
}

function subscribe(tell: () => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}
