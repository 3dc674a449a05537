import type { PageRows } from './open-console.ts';
import { type OperatorPages, operatorRowsOn } from './open-operator-rows.ts';
import { type UserPages, userRowsOn } from './open-user-rows.ts';

const siteName = 'Tollgate';

/** What users and operators see and do, on one gateway. */
export const pageRowsOn =
  (pages: UserPages & OperatorPages): PageRows =>
  ({ site, methods }) => {
    const users = userRowsOn(pages, { site, shell: { name: siteName, methods, wallets: [] }, ordersSince: async () => [] });
    return [...users, ...operatorRowsOn(pages, users)];
  };
