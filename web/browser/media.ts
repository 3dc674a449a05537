import { useSyncExternalStore } from 'react';

/** Whether the window matches a media query now: `useMedia('(min-width: 768px)')`. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (tell) => {
      const media = matchMedia(query);
      media.addEventListener('change', tell);
      return () => media.removeEventListener('change', tell);
    },
    () => matchMedia(query).matches,
  );
}

/** Wide enough for tables; below it rows are cards. */
export function useWide(): boolean {
  return useMedia('(min-width: 768px)');
}

export function useOnline(): boolean {
  return useSyncExternalStore(
    (tell) => {
      addEventListener('online', tell);
      addEventListener('offline', tell);
      return () => {
        removeEventListener('online', tell);
        removeEventListener('offline', tell);
      };
    },
    () => navigator.onLine,
  );
}
