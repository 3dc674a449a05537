import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { UserView } from '../../../src/console/contract.ts';
import { prefetch, useData, useMe, type Visit } from '../../api/data.ts';
import { useSearchState } from '../../browser/search-state.ts';
import { Banner } from '../../components/banner.tsx';
import { Button, IconButton } from '../../components/button.tsx';
import { CopyText } from '../../components/copy.tsx';
import { Figures, FigureCard } from '../../components/figure.tsx';
import { DetailPage } from '../../components/detail-page.tsx';
import { Menu, MenuItem } from '../../components/menu.tsx';
import { Money } from '../../components/money.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { Time, ZoneNote } from '../../components/time.tsx';
import { formatCount } from '../../format/count.ts';
import { operatorWords, peopleWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { AuditTrail } from './audit-trail.tsx';
import { MoneyDialog } from './user-money.tsx';
import { InviteAgain } from './new-user.tsx';
import { type Turn, TurnDialog } from './user-turns.tsx';
import { UserKeys } from './user-keys.tsx';
import { UserFailed, UserOrders, UserStatement, UserUsage } from './user-tabs.tsx';
import { RoleBadge, UserBadge } from './users.tsx';
import { userAddress } from './user-name.tsx';

const searchDefaults = { tab: 'statement' };
const tabs = ['statement', 'usage', 'failed', 'keys', 'orders', 'audit'] as const;

export const ahead = ({ params: { id = '' } }: Visit) => prefetch(userAddress(id));

/** One user: the user's own views, and the operator's actions. */
export function UserPage(): ReactNode {
  const { users } = useWords(peopleWords);
  const { id = '' } = useParams({ strict: false });
  const user = useData<UserView>(userAddress(id));
  return (
    <DetailPage
      query={user}
      title={user.data?.name ?? users.title}
      list={{ label: users.title, to: '/operator/users' }}
      note={(view) => <Note user={view} />}
      actions={(view) => <Actions user={view} />}
    >
      {(view) => <Detail user={view} />}
    </DetailPage>
  );
}

function Note({ user }: { readonly user: UserView }): ReactNode {
  const { user: words } = useWords(peopleWords);
  return (
    <div className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-1">
      <UserBadge user={user} />
      <RoleBadge user={user} />
      <CopyText text={user.id} label={words.id} />
      {user.email !== null && (
        <span className="text-caption text-muted wrap-anywhere">{user.email}</span>
      )}
      <span className="text-caption text-muted">
        {words.since} <Time at={user.created_at} as="day" />
      </span>
      <ZoneNote />
    </div>
  );
}

function Actions({ user }: { readonly user: UserView }): ReactNode {
  const { user: words, users } = useWords(peopleWords);
  const { actions } = useWords(operatorWords);
  const me = useMe();
  const neverIn = user.sign_ins.length === 0 && user.last_seen_at === null;
  const [open, setOpen] = useState<'credit' | 'debit' | 'invite' | Turn>();
  const close = () => setOpen(undefined);
  return (
    <>
      <Button onClick={() => setOpen('debit')}>{words.debit}</Button>
      <Button look="primary" onClick={() => setOpen('credit')}>
        {words.credit}
      </Button>
      <Menu trigger={<IconButton icon="more" label={actions(user.name)} look="secondary" />}>
        {neverIn && (
          <MenuItem icon="copy" onSelect={() => setOpen('invite')}>
            {users.create.invite}
          </MenuItem>
        )}
        <MenuItem
          icon="shield"
          onSelect={() => setOpen(user.role === 'operator' ? 'user' : 'operator')}
        >
          {user.role === 'operator' ? words.makeUser : words.makeOperator}
        </MenuItem>
        {user.state === 'suspended' ? (
          <MenuItem icon="play" onSelect={() => setOpen('restore')}>
            {words.restore}
          </MenuItem>
        ) : (
          user.id !== me.id && (
            <MenuItem icon="pause" danger onSelect={() => setOpen('suspend')}>
              {words.suspend}
            </MenuItem>
          )
        )}
      </Menu>
      {(open === 'credit' || open === 'debit') && (
        <MoneyDialog user={user} kind={open} onClose={close} />
      )}
      {open === 'invite' && <InviteAgain user={user} onClose={close} />}
      {open !== undefined && open !== 'credit' && open !== 'debit' && open !== 'invite' && (
        <TurnDialog user={user} turn={open} onClose={close} />
      )}
    </>
  );
}

function Detail({ user }: { readonly user: UserView }): ReactNode {
  const { user: words, users } = useWords(peopleWords);
  const [{ tab }, setState] = useSearchState(searchDefaults);
  const shown = tabs.find((each) => each === tab) ?? 'statement';
  const base = userAddress(user.id);
  return (
    <div className="flex flex-col gap-4">
      {user.state === 'suspended' && <Banner tone="warn">{words.suspendedNote}</Banner>}
      <Figures>
        <FigureCard
          label={users.columns.balance}
          value={<Money amount={user.balance} as="balance" />}
        />
        <FigureCard label={users.columns.held} value={<Money amount={user.held} as="balance" />} />
        <FigureCard
          label={users.columns.spent}
          value={<Money amount={user.spent_30_days} as="spend" />}
          tip={users.spentTip}
        />
        <FigureCard
          label={users.columns.keys}
          value={formatCount(user.keys)}
          note={users.allKeys(formatCount(user.keys_all))}
        />
        <FigureCard
          label={users.columns.seen}
          value={<Time at={user.last_seen_at} as="relative" absent={users.never} />}
        />
      </Figures>
      <Tabs
        label={words.tabs.label}
        value={shown}
        onChange={(next) => setState({ tab: next })}
        tabs={tabs.map((each) => [each, words.tabs[each]] as const)}
      >
        {shown === 'statement' && <UserStatement base={base} />}
        {shown === 'usage' && <UserUsage base={base} />}
        {shown === 'failed' && <UserFailed base={base} />}
        {shown === 'keys' && <UserKeys base={base} />}
        {shown === 'orders' && <UserOrders base={base} />}
        {shown === 'audit' && <AuditTrail filter={{ account: user.id }} />}
      </Tabs>
    </div>
  );
}
