import type { Nano } from '../../base/money.ts';
import type { Quantities } from '../../base/quantities.ts';
import { costOf, lineCost, type PriceLine, type Tariff } from '../../catalog/price.ts';
import type { StoredFile } from '../../media/files.ts';
import { linesOf, recordColumns } from '../../usage/record.ts';
import { linesText } from '../settle.ts';
import type { TaskParts } from './parts.ts';
import { endTask, type TaskEnd } from './queries.ts';
import { channelNameOf, type Task, type TaskError } from './task.ts';

/**
 * Once the video is stored: charges it, records it and shows it, in one transaction. Throws a
 * `DatabaseError`: the next poll repeats it.
 */
export async function completeTask(
  parts: TaskParts,
  task: Task,
  file: StoredFile,
  metered: Quantities | undefined,
): Promise<void> {
  // As in `settle`.
  const finishedAt = Math.max(parts.clock.now(), task.createdAt);
  const bill = finalBill(task, metered);
  const { total: cost, beyond } = bill;
  const record = {
    table: 'usage',
    columns: recordColumns,
    values: recordOf(task, bill, finishedAt),
  };
  const hold = { cost, loss: beyond?.excess, code: 'video', at: finishedAt, record };
  const ended = await endAndLog(parts, task, finishedAt, {
    state: 'completed',
    file: file.id,
    hold: { state: 'posted', ...hold },
  });
  // Another process copied the video too, and was faster: one copy is enough.
  if (!ended) await parts.files.remove(task.account, file.id);
  else if (beyond !== undefined) {
    const { id, model } = task;
    const { excess } = beyond;
    parts.overran({ id, channel: channelNameOf(task.channel), model, excess, reported: metered });
  }
}

/**
 * Ends a task without a result and frees its whole hold. Throws a `DatabaseError`: the next poll
 * repeats it.
 */
export async function failTask(parts: TaskParts, task: Task, error: TaskError): Promise<void> {
  await endAndLog(parts, task, parts.clock.now(), { state: 'failed', error });
}

/** False: the task had ended before. */
async function endAndLog(parts: TaskParts, task: Task, at: number, how: TaskEnd): Promise<boolean> {
  const ended = await parts.database.transact(() => endTask(task, how, at));
  if (ended === undefined) return false;
  parts.ended({
    id: task.id,
    user: task.account,
    key: task.keyId,
    model: task.model,
    group: task.group,
    channel: channelNameOf(task.channel),
    outcome: how.state === 'completed' ? 'completed' : how.error.code,
    costNano: ended.posted.toString(),
    durationMs: at - task.createdAt,
  });
  return true;
}

interface FinalBill extends VideoBill {
  /**
   * The cost beyond the bill of what the vendor metered, which the operator bears, and the lines of
   * everything metered.
   */
  readonly beyond?: { readonly excess: Nano; readonly text: string } | undefined;
}

/**
 * The bill of the submission, with the tokens that the vendor metered, up to the most that the
 * video can use. The rates are those of the submission, whatever the model costs by now.
 */
function finalBill({ cost, bill }: Task, metered: Quantities | undefined): FinalBill {
  if (metered === undefined) return { total: cost, text: bill };
  const most = linesOf(bill);
  const all = most.map((line) => {
    const ordered = line.measure === 'second' || line.measure === 'request';
    return lineOf(line, (ordered ? undefined : metered[line.measure]) ?? line.quantity);
  });
  const lines = all.map((line, i) =>
    lineOf(line, Math.min(line.quantity, most[i]?.quantity ?? line.quantity)),
  );
  const total = sumOf(lines);
  const excess = sumOf(all) - total;
  const beyond = excess > 0n ? { excess, text: linesText(all) } : undefined;
  return { total, text: linesText(lines), beyond };
}

const lineOf = (line: PriceLine, quantity: number): PriceLine => ({
  ...line,
  quantity,
  cost: lineCost(quantity, line.rate),
});

const sumOf = (lines: readonly PriceLine[]): Nano =>
  lines.reduce((sum, { cost }) => sum + cost, 0n);

function recordOf(
  task: Task,
  { text, beyond }: FinalBill,
  finishedAt: number,
): readonly (string | bigint | number | null)[] {
  const durationMs = finishedAt - task.createdAt;
  const whatFor = [
    task.keyId,
    task.createdAt,
    finishedAt,
    'video',
    task.model,
    task.group,
    channelNameOf(task.channel),
    task.upstreamId ?? null,
  ];
  const excess = [beyond?.excess ?? null, beyond?.text ?? null];
  return [...whatFor, 'ok', 0, 0, durationMs, durationMs, 1, 0, 0, text, ...excess];
}

/** The cost of a video, and its price lines as text. */
interface VideoBill {
  readonly total: Nano;
  readonly text: string;
}

/** `variants`: the names under which the price may be listed, the most specific first. */
export function videoBill(
  tariff: Tariff,
  quantities: Quantities,
  variants: readonly string[],
): VideoBill {
  const variant = variants.find((name) => tariff.variants?.listed.has(name));
  const { lines, total } = costOf(tariff, quantities, variant);
  return { total, text: linesText(lines) };
}
