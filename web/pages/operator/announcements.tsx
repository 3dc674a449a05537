import { type ReactNode, useState } from 'react';
import type { List, OperatorAnnouncement } from '../../../src/console/contract.ts';
import { send } from '../../api/client.ts';
import { prefetch, useData } from '../../api/data.ts';
import { useSearchState } from '../../browser/search-state.ts';
import { CreateButton, IconButton } from '../../components/button.tsx';
import { menuColumn } from '../../components/column-menu.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { ListPanel } from '../../components/list-panel.tsx';
import { Menu, MenuItem } from '../../components/menu.tsx';
import { Page } from '../../components/page.tsx';
import { Badge } from '../../components/status-badge.tsx';
import { named } from '../../components/named-columns.ts';
import { type Column, Table } from '../../components/table.tsx';
import { Time, ZoneNote } from '../../components/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { bookWords, operatorWords, sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { useLanguage } from '../../words/language.ts';
import {
  announcementAddress,
  AnnouncementForm,
  refreshAnnouncements,
} from './announcement-form.tsx';
import { useAct } from './parts.tsx';

/** `form`: `new`, or the id of the edited one. */
const searchDefaults = { form: '' };
const path = 'operator/announcements';

export const ahead = () => prefetch(path);

/** Announcements to users, in both languages. */
export function AnnouncementsPage(): ReactNode {
  const { announcements: words } = useWords(bookWords);
  const announcements = useData<List<OperatorAnnouncement>>(path);
  const [{ form }, setState] = useSearchState(searchDefaults);
  const edited = announcements.data?.items.find(({ id }) => id === form);
  const close = () => setState({ form: '' });
  return (
    <Page
      title={words.title}
      wide
      note={<ZoneNote />}
      actions={
        <CreateButton onClick={() => setState({ form: 'new' })}>{words.create}</CreateButton>
      }
    >
      <ListPanel query={announcements} empty={words.empty}>
        {(rows) => <Announced announcements={rows} onEdit={(id) => setState({ form: id })} />}
      </ListPanel>
      {(form === 'new' || edited !== undefined) && (
        <AnnouncementForm key={form} announcement={edited} onClose={close} />
      )}
    </Page>
  );
}

interface AnnouncedProps {
  readonly announcements: readonly OperatorAnnouncement[];
  readonly onEdit: (id: string) => void;
}

function Announced({ announcements, onEdit }: AnnouncedProps): ReactNode {
  const { announcements: words } = useWords(bookWords);
  const { actions } = useWords(operatorWords);
  const language = useLanguage();
  const { columns } = words;
  const menu = (each: OperatorAnnouncement) => (
    <AnnouncementMenu announcement={each} onEdit={() => onEdit(each.id)} />
  );
  const group = (each: OperatorAnnouncement) =>
    each.group === null ? words.everybody : words.groupUsers(each.group);
  const rows: readonly Column<OperatorAnnouncement>[] = named(columns, [
    {
      id: 'title',
      cell: ({ title }) => (
        <span className="block max-w-56 truncate font-medium xl:max-w-96">{title[language]}</span>
      ),
    },
    { id: 'level', cell: (each) => <Level announcement={each} /> },
    { id: 'state', cell: (each) => <State announcement={each} /> },
    { id: 'group', spare: 3, cell: group },
    { id: 'from', spare: 1, cell: ({ from }) => <Time at={from} /> },
    { id: 'to', spare: 2, cell: ({ to }) => <Time at={to} absent={words.untilFurther} /> },
  ]);
  return (
    <Table
      label={words.title}
      rows={announcements}
      rowKey={({ id }) => id}
      columns={[...rows, menuColumn(actions(''), menu)]}
      path={({ id }) => `/operator/announcements?form=${id}`}
      onOpen={({ id }) => onEdit(id)}
      card={(each) => ({
        title: each.title[language],
        value: <State announcement={each} />,
        detail: (
          <>
            <Level announcement={each} />
            <span>{group(each)}</span>
            <Time at={each.from} />
          </>
        ),
        menu: menu(each),
      })}
    />
  );
}

const levels = {
  info: ['info', 'accent'],
  warn: ['warning', 'warn'],
  bad: ['failed', 'bad'],
} as const;
const states = {
  planned: ['clock', 'accent'],
  shown: ['check', 'good'],
  over: ['none', 'idle'],
} as const;

function Level({
  announcement: { level },
}: {
  readonly announcement: Pick<OperatorAnnouncement, 'level'>;
}): ReactNode {
  const { announcements: words } = useWords(bookWords);
  const [icon, tone] = levels[level];
  return (
    <Badge icon={icon} tone={tone}>
      {words.levels[level]}
    </Badge>
  );
}

function State({
  announcement: { state },
}: {
  readonly announcement: OperatorAnnouncement;
}): ReactNode {
  const { announcements: words } = useWords(bookWords);
  const [icon, tone] = states[state];
  return (
    <Badge icon={icon} tone={tone}>
      {words.states[state]}
    </Badge>
  );
}

/** Hiding ends an announcement now, with Undo; removing also takes it off this list. */
function AnnouncementMenu({
  announcement,
  onEdit,
}: {
  readonly announcement: OperatorAnnouncement;
  readonly onEdit: () => void;
}): ReactNode {
  const { announcements: words } = useWords(bookWords);
  const { actions } = useWords(operatorWords);
  const shared = useWords(sharedWords);
  const language = useLanguage();
  const act = useAct();
  const toast = useToast();
  const [removing, setRemoving] = useState(false);
  const { id, title, version, to } = announcement;
  const end = (until: string | null, of: number) =>
    send<OperatorAnnouncement>('PATCH', announcementAddress(id), {
      body: { to: until },
      ifMatch: of,
    });
  const hide = () =>
    act(async () => {
      const after = await end(new Date().toISOString(), version);
      await refreshAnnouncements();
      const undo = {
        label: shared.actions.undo,
        run: () => act(() => end(to, after.version).then(refreshAnnouncements)),
      };
      toast({ tone: 'done', text: words.hidden, action: undo });
    });
  const remove = async () => {
    await send('DELETE', announcementAddress(id));
    await refreshAnnouncements();
    toast({ tone: 'done', text: words.removed });
  };
  return (
    <>
      <Menu
        trigger={
          <IconButton icon="more" label={actions(title[language])} look="secondary" size="small" />
        }
      >
        <MenuItem icon="edit" onSelect={onEdit}>
          {words.editTitle}
        </MenuItem>
        {announcement.state === 'shown' && (
          <MenuItem icon="none" onSelect={() => void hide()}>
            {words.hide}
          </MenuItem>
        )}
        <MenuItem icon="trash" danger onSelect={() => setRemoving(true)}>
          {words.remove}
        </MenuItem>
      </Menu>
      {removing && (
        <Confirm
          onClose={() => setRemoving(false)}
          title={words.removeTitle(title[language])}
          action={words.remove}
          onConfirm={remove}
        >
          {words.removeText}
        </Confirm>
      )}
    </>
  );
}
