import { useRef } from 'react';
import { newIdempotencyKey } from './client.ts';

/**
 * The idempotency key of what a form sends: it stays until that was taken, or is another thing.
 * Whoever sends again, because no answer came, has one of it.
 */
export function useOnce(): {
  readonly keyFor: (wish: object) => string;
  readonly taken: () => void;
} {
  const last = useRef<{ readonly of: string; readonly key: string }>(undefined);
  return {
    keyFor(wish) {
      const of = JSON.stringify(wish);
      if (last.current?.of !== of) last.current = { of, key: newIdempotencyKey() };
      return last.current.key;
    },
    taken() {
      last.current = undefined;
    },
  };
}
