import { orderedId } from '../base/random.ts';
import { appendOnly, optionalText, WhereClause } from '../storage/sql.ts';
import type { Database, Migration, Row, Transaction } from '../storage/database.ts';

/** The kind of actor: a person at the console, a command on the server, or the program itself. */
export type ActorKind = 'user' | 'operator' | 'command' | 'system';

export type AuditFacts = Readonly<Record<string, unknown>>;

/** An action that is recorded, so that it can be traced later. */
export interface AuditedAction {
  readonly actorKind: ActorKind;
  /** The user's id; undefined when the actor is no user. */
  readonly actor: string | undefined;
  /** `channel.update`, `user.credit`: the kind of thing and what became of it. */
  readonly action: string;
  readonly target: string;
  /** The user that the action concerns, and who may read the record. */
  readonly account?: string | undefined;
  /**
   * The values before and after, by member; equal members are left out, a secret is recorded as
   * `changed`.
   */
  readonly before?: AuditFacts | undefined;
  readonly after?: AuditFacts | undefined;
  readonly reason?: string | undefined;
  readonly ip?: string | undefined;
}

/** The actor of a command on the server. */
export const byCommand = { actorKind: 'command', actor: undefined } as const;

/** A user who acts on the user's own account. */
export const byUser = (id: string, ip: string) =>
  ({ actorKind: 'user', actor: id, account: id, ip }) as const;

/** `at` is wall clock, ms. */
export interface AuditRecord extends AuditedAction {
  readonly id: string;
  readonly at: number;
}

export const auditMigrations: readonly Migration[] = [
  {
    id: '0021-audit',
    statements: [
      `CREATE TABLE audit (
        id TEXT PRIMARY KEY,
        at BIGINT NOT NULL,
        actor_kind TEXT NOT NULL CHECK (actor_kind IN ('user', 'operator', 'command', 'system')),
        actor TEXT,
        action TEXT NOT NULL,
        target TEXT NOT NULL,
        account TEXT,
        before TEXT,
        after TEXT,
        reason TEXT,
        ip TEXT
      )`,
      'CREATE INDEX audit_of_account ON audit (account, id) WHERE account IS NOT NULL',
      'CREATE INDEX audit_of_target ON audit (target, id)',
      'CREATE INDEX audit_of_actor ON audit (actor, id)',
      ...appendOnly('audit'),
    ],
  },
];

/** Part of the transaction of the action itself: neither is committed without the other. */
export function* writeAudit(at: number, act: AuditedAction): Transaction<string> {
  const id = orderedId('aud_', at);
  const { before, after } = differing(act.before, act.after);
  yield {
    sql: `INSERT INTO audit (id, at, actor_kind, actor, action, target, account, before, after, reason, ip)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    params: [
      id,
      at,
      act.actorKind,
      act.actor ?? null,
      act.action,
      act.target,
      act.account ?? null,
      before ?? null,
      after ?? null,
      act.reason ?? null,
      act.ip ?? null,
    ],
  };
  return id;
}

/** Something made or removed is recorded whole, a change by its differences. */
function differing(
  before: AuditFacts | undefined,
  after: AuditFacts | undefined,
): { readonly before?: string; readonly after?: string } {
  if (before === undefined || after === undefined)
    return {
      ...(before && { before: JSON.stringify(before) }),
      ...(after && { after: JSON.stringify(after) }),
    };
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const differ = names.filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  const only = (facts: AuditFacts): string =>
    JSON.stringify(Object.fromEntries(differ.map((name) => [name, facts[name] ?? null])));
  return { before: only(before), after: only(after) };
}

export interface AuditQuery {
  readonly actor?: string | undefined;
  /** The action or, with a dot at its end, all actions that begin so: `channel.`. */
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  readonly account?: string | undefined;
  /** Wall clock, ms: from (inclusive) and to (exclusive). */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** The id of the last entry of the page before. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** A page of audit records, newest first. */
export async function auditPage(
  database: Database,
  question: AuditQuery,
): Promise<readonly AuditRecord[]> {
  const where = new WhereClause();
  where.add('actor=?', question.actor);
  where.add('target=?', question.target);
  where.add('account=?', question.account);
  where.add('at>=?', question.from);
  where.add('at<?', question.to);
  where.add('id<?', question.before);
  const { action } = question;
  where.add(
    action?.endsWith('.') === true ? `substr(action, 1, ${action.length})=?` : 'action=?',
    action,
  );
  const rows = await database.query(
    `SELECT * FROM audit${where.text} ORDER BY id DESC LIMIT ${where.place(question.limit)}`,
    where.params,
  );
  return rows.map(entryOf);
}

function entryOf(row: Row): AuditRecord {
  const facts = (name: string): AuditFacts | undefined => {
    const json = optionalText(row, name);
    // Written by `writeAudit`.
    return json === undefined ? undefined : (JSON.parse(json) as AuditFacts);
  };
  const kind = optionalText(row, 'actor_kind');
  return {
    id: String(row['id']),
    at: Number(row['at']),
    actorKind: kind === 'user' || kind === 'operator' || kind === 'command' ? kind : 'system',
    actor: optionalText(row, 'actor'),
    action: String(row['action']),
    target: String(row['target']),
    account: optionalText(row, 'account'),
    before: facts('before'),
    after: facts('after'),
    reason: optionalText(row, 'reason'),
    ip: optionalText(row, 'ip'),
  };
}
