import { useSyncExternalStore } from 'react';

interface Store<Value> {
  readonly get: () => Value;
  readonly set: (next: Value) => void;
  /** Calls `listener` after each `set`. Returns what ends that. */
  readonly subscribe: (listener: () => void) => () => void;
  /** A hook: the component is drawn again when the value changes. */
  readonly use: () => Value;
}

/** A value of the whole page, which lives outside of its components. */
export function store<Value>(value: Value): Store<Value> {
  const listeners = new Set<() => void>();
  const get = () => value;
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return {
    get,
    set(next) {
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe,
    use: () => useSyncExternalStore(subscribe, get),
  };
}
