import { announcementsMigrations } from './accounts/announcements.ts';
import { auditMigrations } from './accounts/audit.ts';
import { accountsMigrations } from './accounts/migrations.ts';
import { userKeysMigrations } from './accounts/user-keys.ts';
import { catalogMigrations } from './catalog/migrations.ts';
import { reportsMigrations } from './gateway/reports/migrations.ts';
import { tasksMigrations } from './gateway/tasks/migrations.ts';
import { checksMigrations } from './ledger/checks.ts';
import { importsMigrations } from './imports/remembered.ts';
import { ledgerMigrations } from './ledger/migrations.ts';
import { changesMigrations } from './storage/changes.ts';
import { ledgerIdMigrations } from './storage/ledger-id.ts';
import { noticesMigrations } from './notices/migrations.ts';
import { recallMigrations } from './recall/migrations.ts';
import { mediaMigrations } from './media/migrations.ts';
import { paymentsMigrations } from './payments/migrations.ts';
import type { Migration } from './storage/database.ts';
import { usageMigrations } from './usage/migrations.ts';

/** The schema of the whole product, room by room. */
export const migrations: readonly Migration[] = [
  ...changesMigrations,
  ...accountsMigrations,
  ...auditMigrations,
  ...announcementsMigrations,
  ...userKeysMigrations,
  ...ledgerMigrations,
  ...checksMigrations,
  ...catalogMigrations,
  ...usageMigrations,
  ...recallMigrations,
  ...mediaMigrations,
  ...tasksMigrations,
  ...paymentsMigrations,
  ...reportsMigrations,
  ...importsMigrations,
  ...noticesMigrations,
  ...ledgerIdMigrations,
];
