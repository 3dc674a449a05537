import { useRef } from 'react';
import { newIdempotencyKey } from './client.ts';

/**
 * The idempotency key of a form: the same one until the server took the request or the form
 * changed. A user who sends again, because no response came, creates one object.
 */
export function useOnce(): {
  readonly keyFor: (form: object) => string;
  readonly taken: () => void;
} {
  const last = useRef<{ readonly of: string; readonly key: string }>(undefined);
  return {
    keyFor(form) {
      const of = JSON.stringify(form);
      if (last.current?.of !== of) last.current = { of, key: newIdempotencyKey() };
      return last.current.key;
    },
    taken() {
      last.current = undefined;
    },
  };
}
