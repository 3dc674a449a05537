import { serveSqlite } from '../storage/sqlite-host.ts';
import { ledgerProcedures } from './procedures.ts';

serveSqlite(ledgerProcedures);
