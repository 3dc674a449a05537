import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import { PathLink } from '../../components/path-link.tsx';
import { userMark } from '../../format/user-mark.ts';
import { pathName } from './parts.tsx';

interface UserNameProps {
  readonly user: {
    readonly id: string;
    /** Null: there is no such user. */
    readonly name: string | null;
    readonly email?: string | null;
  };
  /** Leads to the user's page. */
  readonly link?: boolean;
  readonly className?: string;
}

/**
 * A user wherever operators meet one: the name, and below it what tells the user from others of the
 * same name, so that an operator suspends, credits or debits the right one.
 */
export function UserName({
  user,
  link = false,
  className = 'max-w-full',
}: UserNameProps): ReactNode {
  const { id, name, email } = user;
  const text = name ?? id;
  return (
    <span className={clsx('inline-block min-w-0 align-middle leading-tight', className)}>
      <span className="block truncate">
        {link ? <PathLink path={userPath(id)}>{text}</PathLink> : text}
      </span>
      <span className="block truncate text-caption leading-tight font-normal text-muted">
        {userMark(id, email)}
      </span>
    </span>
  );
}

export const userPath = (id: string): string => `/operator/users/${pathName(id)}`;
