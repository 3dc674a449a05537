import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';

/** The parameters of the address: `?model=glm-4.6&from=-7d`. */
type SearchState = Readonly<Record<string, string>>;
type Change<State extends SearchState> = { readonly [Name in keyof State]?: string | undefined };

/**
 * State in the address, so that it can be linked and Back undoes it. `defaults` is a constant
 * outside the component; values that equal them are left out of the address. A change removes the
 * cursor `after` unless it sets it; `replace` adds no step to the history (typing).
 */
export function useSearchState<const State extends SearchState>(
  defaults: State,
): readonly [
  { readonly [Name in keyof State]: string },
  (change: Change<State>, options?: { readonly replace?: boolean }) => void,
] {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const navigate = useNavigate();
  const state = useMemo(() => {
    const entries = Object.entries(defaults).map(([name, fallback]) => [
      name,
      textOf(search[name]) ?? fallback,
    ]);
    // parsing: the same names
    return Object.fromEntries(entries) as { [Name in keyof State]: string };
  }, [search, defaults]);
  const set = useCallback(
    (change: Change<State>, { replace = false } = {}) => {
      const next = (old: Readonly<Record<string, unknown>>) => {
        const merged: Record<string, unknown> = { ...old, after: undefined, ...change };
        return Object.fromEntries(
          Object.entries(merged).filter(
            ([name, value]) => value !== undefined && value !== defaults[name],
          ),
        );
      };
      void navigate({ to: '.', search: next as never, replace, resetScroll: false });
    },
    [navigate, defaults],
  );
  return [state, set];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
