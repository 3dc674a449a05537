import type { ModelRow } from '../../../src/console/contract.ts';
import { useSearchState } from '../../browser/search-state.ts';
import { type Conversation, useConversation } from './conversation.ts';
import type { Payer } from './payer.tsx';
import { rememberModel } from './recent-models.ts';

const panesMax = 4;
const searchDefaults = { model: '', beside: '', beside2: '', beside3: '' };

/** A model and its conversation. */
export interface Pane {
  readonly model: ModelRow;
  readonly talk: Conversation;
}

export interface Panes {
  readonly all: readonly [Pane, ...Pane[]];
  /** Undefined: there are as many as there can be. */
  readonly add: (() => void) | undefined;
  readonly change: (at: number, id: string) => void;
  readonly remove: (at: number) => void;
}

/** The model of the address, and up to three beside it. */
export function usePanes({ model, models }: Payer): Panes {
  const [search, setSearch] = useSearchState(searchDefaults);
  const talks = useTalks();
  const others = besides(models, [search.beside, search.beside2, search.beside3]);
  const set = ([first = '', beside = '', beside2 = '', beside3 = '']: readonly string[]) =>
    setSearch({ model: first, beside, beside2, beside3 }, { replace: true });
  const ids = [model, ...others].map(({ id }) => id);
  const next = models.find(({ id }) => !ids.includes(id));
  return {
    all: [
      { model, talk: talks[0] },
      ...others.map((other, at) => ({ model: other, talk: talks[at + 1] ?? talks[0] })),
    ],
    add: next === undefined || ids.length >= panesMax ? undefined : () => set([...ids, next.id]),
    change: (at, id) => set(ids.with(at, id)),
    remove: (at) => {
      set(ids.toSpliced(at, 1));
      // The conversations behind it move up with their models.
      for (let slot = at; slot < panesMax; slot++) {
        talks[slot]?.stop();
        talks[slot]?.set(talks[slot + 1]?.turns ?? []);
      }
    },
  };
}

/** Names that this group does not have are left out. */
const besides = (models: readonly ModelRow[], wanted: readonly string[]): readonly ModelRow[] =>
  wanted.flatMap((name) => models.find(({ id }) => id === name) ?? []);

function useTalks(): readonly [Conversation, ...Conversation[]] {
  return [useConversation(), useConversation(), useConversation(), useConversation()];
}

/** Remembers the models as tried, the first one last: it is found first. */
export function rememberPanes(panes: readonly Pane[]): void {
  for (const { model } of panes.toReversed()) rememberModel(model.id);
}
