import { announcementsMigrations } from '../accounts/announcements.ts';
import { auditMigrations } from '../accounts/audit.ts';
import { accountsMigrations } from '../accounts/migrations.ts';
import { userKeysMigrations } from '../accounts/user-keys.ts';
import { catalogMigrations } from '../catalog/migrations.ts';
import { reportsMigrations } from '../gateway/reports/migrations.ts';
import { tasksMigrations, taskProof } from '../gateway/tasks/migrations.ts';
import { importsMigrations } from '../imports/import-records.ts';
import { checksMigrations } from '../ledger/check-runs.ts';
import { ledgerMigrations } from '../ledger/migrations.ts';
import { mediaMigrations } from '../media/file-table.ts';
import { uploadMigrations } from '../media/upload-table.ts';
import { notificationsMigrations } from '../notifications/migrations.ts';
import { paymentProof, paymentsMigrations } from '../payments/migrations.ts';
import { memoryMigrations } from '../memory/migrations.ts';
import { requestLogMigrations } from '../request-log/migrations.ts';
import { changesMigrations } from '../storage/changes.ts';
import type { Migration } from '../storage/database.ts';
import { ledgerIdMigrations } from '../storage/ledger-id.ts';
import { usageMigrations } from '../usage/migrations.ts';

/** The schema of the whole product, module by module. */
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
  ...memoryMigrations,
  ...mediaMigrations,
  ...uploadMigrations,
  ...tasksMigrations,
  ...paymentsMigrations,
  ...reportsMigrations,
  ...importsMigrations,
  ...notificationsMigrations,
  ...ledgerIdMigrations,
  ...requestLogMigrations,
];

/** The proofs of the modules that use the ledger, for `check`. */
export const proofs: Readonly<Record<string, string>> = { ...taskProof, ...paymentProof };
