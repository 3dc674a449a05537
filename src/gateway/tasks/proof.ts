/**
 * For the ledger's proof: a task's end and its money's are one, and no money waits for a task that
 * is not there (those of refunds are proved by whoever pays out). Each must return no row (till.md
 * §8).
 */
export const taskProof: Readonly<Record<string, string>> = {
  tasks: `SELECT t.id, t.state, h.state AS hold FROM task t LEFT JOIN hold h ON h.id=t.id
    WHERE h.id IS NULL OR h.account<>t.account OR (t.ended_at IS NULL)<>(h.state='open') OR (t.state='completed')<>(h.state='posted')`,
  'task holds': `SELECT h.id, h.account, h.amount FROM hold h JOIN account a ON a.id=h.account
    LEFT JOIN task t ON t.ended_at IS NULL
      AND t.id=CASE WHEN a.kind='limit' THEN substr(h.id, 1, length(h.id)-length(a.id)-1) ELSE h.id END
    WHERE h.state='open' AND t.id IS NULL AND substr(h.id, 1, 4)<>'rfd_'`,
};
