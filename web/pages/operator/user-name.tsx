import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import { PathLink } from '../../components/path-link.tsx';
import { userMark } from './user-mark.ts';
import { pathName } from './parts.tsx';

interface UserNameProps {
  readonly user: {
    readonly id: string;
    /** Null: there is no such user. */
    readonly name: string | null;
    readonly email?: string | null;
  };
  /** Leads to the user's page. */
  readonly link?: boolean | undefined;
  readonly className?: string;
}

/**
 * A user wherever operators meet one: the name, and below it what tells the user from others of the
 * same name, so that an operator suspends, credits or debits the right one.
 */
export function UserName({ user, link, className = 'max-w-full' }: UserNameProps): ReactNode {
  return (
    <span className={clsx('my-1 inline-block min-w-0 align-middle leading-tight', className)}>
      <span className="block truncate">
        <Name user={user} link={link} />
      </span>
      <span className="block truncate text-caption leading-tight font-normal text-muted">
        {userMark(user.id, user.email)}
      </span>
    </span>
  );
}

/** The same in one line: among the facts of a record, and on a phone's card. */
export function UserInLine({ user, link }: Omit<UserNameProps, 'className'>): ReactNode {
  return (
    <span className="min-w-0 wrap-anywhere">
      <Name user={user} link={link} />{' '}
      <span className="text-caption text-muted">{userMark(user.id, user.email)}</span>
    </span>
  );
}

function Name({ user: { id, name }, link = false }: UserNameProps): ReactNode {
  const text = name ?? id;
  return link ? <PathLink path={userPath(id)}>{text}</PathLink> : text;
}

export const userPath = (id: string): string => `/operator/users/${pathName(id)}`;
/** The user in the console's API. */
export const userAddress = (id: string): string => `operator/users/${pathName(id)}`;
