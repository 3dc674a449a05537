import { clsx } from 'clsx';
import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useCallback } from 'react';
import type { AuditEntry, Page as PageOf } from '../../../src/console/contract.ts';
import type { Query } from '../../api/client.ts';
import { useData } from '../../api/data.ts';
import { useSearchState } from '../../browser/search-state.ts';
import { CopyText } from '../../components/copy.tsx';
import { DiffList } from '../../components/diff-list.tsx';
import { Drawer, type DrawerProps, stepsIn } from '../../components/dialog.tsx';
import { Fact, Facts } from '../../components/facts.tsx';
import { ListPanel, type ListSearch } from '../../components/list-panel.tsx';
import { PathLink } from '../../components/path-link.tsx';
import { named } from '../../components/named-columns.ts';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { userMark } from './user-mark.ts';
import { bookWords } from '../../words/families.ts';
import { type Language, useLanguage } from '../../words/language.ts';
import { useWords } from '../../words/family.ts';
import { movedIn, useChangeInWords } from './audit-change.ts';
import { ChannelLink } from './channel-parts.tsx';
import { operatorModelPath } from './model-parts.ts';
import { pathName } from './parts.tsx';
import { UserInLine, UserName, userPath } from './user-name.tsx';

/** The filter of the audit page. */
export const noFilter = { actor: '', action: '', target: '', account: '', from: '', to: '' };
/** `entry` is the id of the entry that is open beside the list. */
const searchDefaults = { ...noFilter, after: '', entry: '' };

/**
 * The audit trail, newest first: of everything, of one channel, of one user. An entry opens beside
 * the list.
 */
export function AuditTrail({ filter }: { readonly filter: Query }): ReactNode {
  const { audit: words } = useWords(bookWords);
  const [state, setState] = useSearchState(searchDefaults);
  const { after, entry: shown } = state;
  const entries = useData<PageOf<AuditEntry>>('operator/audit', { ...filter, after });
  const items = entries.data?.items ?? [];
  const entry = items.find(({ id }) => id === shown);
  const setShown = (id = '') => setState({ entry: id, after });
  const turn: ListSearch[1] = useCallback(
    (change, options) => setState({ ...change, entry: '' }, options),
    [setState],
  );
  return (
    <>
      <ListPanel
        query={entries}
        search={[state, turn]}
        noFilter={noFilter}
        empty={words.empty}
        nothing={words.nothing}
        oneWay
      >
        {(rows) => <Entries entries={rows} onOpen={setShown} shown={shown} />}
      </ListPanel>
      {entry && (
        <EntryDrawer
          entry={entry}
          onClose={() => setShown()}
          {...stepsIn(items, shown, setShown)}
        />
      )}
    </>
  );
}

interface EntriesProps {
  readonly entries: readonly AuditEntry[];
  readonly shown: string;
  readonly onOpen: (id: string) => void;
}

function Entries({ entries, shown, onOpen }: EntriesProps): ReactNode {
  const { audit: words } = useWords(bookWords);
  const { columns } = words;
  const { pathname, search } = useLocation();
  const language = useLanguage();
  const action = (entry: AuditEntry) => (
    <>
      {words.actions[entry.action] ?? entry.action}{' '}
      <span className="whitespace-nowrap figures">{movedIn(entry)}</span>
    </>
  );
  const rows: readonly Column<AuditEntry>[] = named(columns, [
    { id: 'time', cell: ({ at }) => <Time at={at} /> },
    { id: 'actor', cell: (entry) => <Actor entry={entry} /> },
    { id: 'action', cell: action },
    { id: 'target', cell: (entry) => <Target entry={entry} /> },
    {
      id: 'reason',
      spare: 1,
      cell: ({ reason }) => <span className="block max-w-72 truncate">{reason ?? '—'}</span>,
    },
    { id: 'ip', spare: 2, cell: ({ ip }) => <span className="text-muted">{ip ?? '—'}</span> },
  ]);
  return (
    <Table
      label={words.title}
      rows={entries}
      rowKey={({ id }) => id}
      columns={rows}
      selected={shown}
      path={({ id }) => `${pathname}?${new URLSearchParams({ ...search, entry: id })}`}
      onOpen={({ id }) => onOpen(id)}
      card={(entry) => ({
        title: action(entry),
        value: '',
        detail: (
          <>
            <Time at={entry.at} />
            <Actor entry={entry} inLine />
            <span className="wrap-anywhere">
              {words.targets[entry.target.kind] ?? entry.target.kind}{' '}
              {targetName(entry.target, language)}
              {usersKinds.includes(entry.target.kind) && ` ${userMark(entry.target.id)}`}
            </span>
            {entry.reason !== null && <span className="wrap-anywhere">{entry.reason}</span>}
          </>
        ),
      })}
    />
  );
}

interface PartProps {
  readonly entry: AuditEntry;
  /** A user is one line. */
  readonly inLine?: boolean;
}

function Actor({ entry: { actor }, inLine = false }: PartProps): ReactNode {
  const { audit: words } = useWords(bookWords);
  const User = inLine ? UserInLine : UserName;
  const kind = words.kinds[actor.kind];
  if (actor.id === null) return <span className="text-muted">{kind}</span>;
  return (
    <span className={clsx('flex items-baseline gap-1', !inLine && 'max-w-40 xl:max-w-48')}>
      <span className="shrink-0 text-muted">{kind}</span>
      <User user={{ id: actor.id, name: actor.name }} link />
    </span>
  );
}

/** Targets whose id is a user's. */
const usersKinds: readonly string[] = ['user', 'sign_in_link'];

/** The page of the entry's target, where it has one; of a key, the list of its user's keys. */
function pathOf({ target: { kind, id }, account }: AuditEntry): string | undefined {
  if (kind === 'model') return operatorModelPath(id);
  if (usersKinds.includes(kind)) return userPath(id);
  if (kind === 'key') return account === null ? undefined : `${userPath(account.id)}?tab=keys`;
  if (kind === 'group') return `/operator/groups/${pathName(id)}`;
  if (kind === 'order') return `/operator/orders?order=${pathName(id)}`;
  if (kind === 'announcement') return '/operator/announcements';
  return undefined;
}

/** A name, a title or the id; nothing where the target is the only one of its kind. */
function targetName({ kind, id, name, title }: AuditEntry['target'], language: Language): string {
  return title?.[language] ?? name ?? (id === kind ? '' : id);
}

function Target({ entry, inLine = false }: PartProps): ReactNode {
  const { audit: words } = useWords(bookWords);
  const User = inLine ? UserInLine : UserName;
  const { target } = entry;
  const path = pathOf(entry);
  const name = targetName(target, useLanguage());
  if (usersKinds.includes(target.kind))
    return (
      <span className={clsx('flex items-baseline gap-1', !inLine && 'max-w-48 xl:max-w-72')}>
        <span className="shrink-0 text-muted">{words.targets[target.kind]}</span>
        <User user={target} link />
      </span>
    );
  return (
    <span className="inline-block max-w-48 truncate align-bottom xl:max-w-72">
      <span className="text-muted">{words.targets[target.kind] ?? target.kind}</span>{' '}
      {target.kind === 'channel' ? (
        <ChannelLink name={name} />
      ) : path === undefined ? (
        name
      ) : (
        <PathLink path={path}>{name}</PathLink>
      )}
    </span>
  );
}

interface EntryDrawerProps extends Pick<DrawerProps, 'onClose' | 'onPrevious' | 'onNext'> {
  readonly entry: AuditEntry;
}

function EntryDrawer({ entry, ...drawer }: EntryDrawerProps): ReactNode {
  const { audit: words } = useWords(bookWords);
  const inWords = useChangeInWords(entry);
  return (
    <Drawer title={words.actions[entry.action] ?? entry.action} {...drawer}>
      <div className="flex flex-col gap-5">
        <Facts>
          <Fact name={words.columns.time}>
            <Time at={entry.at} />
          </Fact>
          <Fact name={words.columns.actor}>
            <Actor entry={entry} inLine />
          </Fact>
          <Fact name={words.columns.action}>
            <span className="font-mono text-caption">{entry.action}</span>
          </Fact>
          <Fact name={words.columns.target}>
            <Target entry={entry} inLine />
          </Fact>
          {entry.account !== null && (
            <Fact name={words.columns.account}>
              <UserInLine user={entry.account} link />
            </Fact>
          )}
          <Fact name={words.columns.reason}>{entry.reason ?? '—'}</Fact>
          <Fact name={words.columns.ip}>{entry.ip ?? '—'}</Fact>
          <Fact name={words.id}>
            <CopyText text={entry.id} label={words.id} />
          </Fact>
        </Facts>
        <section>
          <h3 className="mb-2 text-card font-semibold">{words.changes}</h3>
          {entry.changes.length === 0 ? (
            <p className="text-table text-muted">{words.noChanges}</p>
          ) : (
            <DiffList differences={entry.changes.map(inWords)} />
          )}
        </section>
      </div>
    </Drawer>
  );
}
