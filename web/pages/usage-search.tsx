import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { TextInput } from '../components/field.tsx';
import { usageWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import type { UsageSearch } from './usage-filter.tsx';

interface Searched {
  readonly keys: readonly (readonly [id: string, name: string])[];
  readonly models: readonly string[];
}

/**
 * The filter that a text means: a request id, else the key or model of that name, else the first
 * whose name contains it.
 */
export function filterMeant(
  text: string,
  { keys, models }: Searched,
): Partial<Pick<UsageSearch, 'request' | 'key' | 'model'>> {
  if (text.startsWith('req_')) return { request: text };
  const wanted = text.toLowerCase();
  const fits = (name: string): boolean => name.toLowerCase() === wanted;
  const contains = (name: string): boolean => name.toLowerCase().includes(wanted);
  for (const matches of [fits, contains]) {
    const model = models.find(matches);
    if (model !== undefined) return { model };
    const key = keys.find(([, name]) => matches(name));
    if (key !== undefined) return { key: key[0] };
  }
  return { model: text };
}

interface UsageSearchProps extends Searched {
  /** Called when the field is entered: fetch the names then. */
  readonly onEnter: () => void;
  readonly onFound: (filter: ReturnType<typeof filterMeant>) => void;
}

/** One field for models, keys and request ids; Enter filters the list by what was meant. */
export function UsageSearchField({ keys, models, onEnter, onFound }: UsageSearchProps): ReactNode {
  const { filter: words } = useWords(usageWords);
  const [typed, setTyped] = useState('');
  const list = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const text = typed.trim();
    if (text === '') return;
    onFound(filterMeant(text, { keys, models }));
    setTyped('');
  };
  return (
    <form role="search" onSubmit={submit} className="max-md:w-full md:w-64">
      <TextInput
        type="search"
        aria-label={words.search}
        placeholder={words.searchPlaceholder}
        list={list}
        value={typed}
        onFocus={onEnter}
        onChange={({ target }) => setTyped(target.value)}
      />
      <datalist id={list}>
        {[...models, ...keys.map(([, name]) => name)].map((name, index) => (
          <option key={`${index} ${name}`}>{name}</option>
        ))}
      </datalist>
    </form>
  );
}
