import { serveSqlite } from '../storage/sqlite-thread.ts';
import { ledgerProcedures } from './procedures.ts';

serveSqlite(ledgerProcedures);
