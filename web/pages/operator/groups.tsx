import type { ReactNode } from 'react';
import type { List, OperatorGroup } from '../../../src/console/contract.ts';
import { prefetch, useData } from '../../api/data.ts';
import { useSearchState } from '../../browser/search-state.ts';
import { CreateButton } from '../../components/button.tsx';
import { ListPanel } from '../../components/list-panel.tsx';
import { Page } from '../../components/page.tsx';
import { named } from '../../components/named-columns.ts';
import { type Column, Table } from '../../components/table.tsx';
import { formatCount } from '../../format/count.ts';
import { operatorWords, priceWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { NewGroup } from './group-form.tsx';
import { pathName } from './parts.tsx';

const searchDefaults = { form: '' };

export const ahead = () => prefetch('operator/groups');

/** The groups: multiplier, rate limits and models of their keys. */
export function GroupsPage(): ReactNode {
  const { groups: words } = useWords(priceWords);
  const groups = useData<List<OperatorGroup>>('operator/groups');
  const [{ form }, setState] = useSearchState(searchDefaults);
  return (
    <Page
      title={words.title}
      note={<p className="text-caption text-muted">{words.note}</p>}
      actions={<CreateButton onClick={() => setState({ form: 'new' })}>{words.add}</CreateButton>}
    >
      <ListPanel query={groups} empty={words.empty}>
        {(rows) => <GroupTable groups={rows} />}
      </ListPanel>
      {form === 'new' && <NewGroup onClose={() => setState({ form: '' })} />}
    </Page>
  );
}

function GroupTable({ groups }: { readonly groups: readonly OperatorGroup[] }): ReactNode {
  const { groups: words } = useWords(priceWords);
  const { unlimited } = useWords(operatorWords);
  const { columns } = words;
  const limit = (value: number | null) =>
    value === null ? <span className="text-muted">{unlimited}</span> : formatCount(value);
  const rows: readonly Column<OperatorGroup>[] = named(columns, [
    {
      id: 'name',
      cell: ({ name }) => <span className="block max-w-80 truncate font-medium">{name}</span>,
    },
    { id: 'multiplier', align: 'right', cell: ({ multiplier }) => `×${multiplier}` },
    { id: 'rpm', align: 'right', cell: ({ rpm }) => limit(rpm) },
    { id: 'tpm', align: 'right', cell: ({ tpm }) => limit(tpm) },
    { id: 'concurrency', align: 'right', cell: ({ concurrency }) => limit(concurrency) },
    { id: 'models', align: 'right', cell: ({ models }) => formatCount(models.length) },
    { id: 'keys', align: 'right', cell: ({ keys }) => formatCount(keys) },
  ]);
  return (
    <Table
      label={words.title}
      rows={groups}
      rowKey={({ name }) => name}
      columns={rows}
      path={({ name }) => `/operator/groups/${pathName(name)}`}
      card={({ name, multiplier, models, keys }) => ({
        title: name,
        value: `×${multiplier}`,
        detail: (
          <>
            <span>
              {columns.models} {models.length}
            </span>
            <span>
              {columns.keys} {keys}
            </span>
          </>
        ),
      })}
    />
  );
}
