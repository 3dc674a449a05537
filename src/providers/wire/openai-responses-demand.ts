import type { Adapter, Call } from '../adapter.ts';
import type { TakesRow } from '../takes/contract.ts';
import { foreignWish, reasons } from '../takes/effort.ts';
import { type Table, tableOf } from '../takes/rules.ts';
import { untakenInChat } from '../takes/untaken.ts';
import { isObject, listOf } from './json.ts';
import { perCall } from './per-call.ts';

/**
 * The one adapter or the other, for each call: `/responses` for functions of these models while
 * they reason, and only there.
 */
export function chatUnlessDemanded(
  chat: Adapter,
  responses: Adapter,
  models: RegExp,
  takes: readonly TakesRow[],
): Adapter {
  const rulesOf = tableOf(takes, untakenInChat);
  return perCall((call) => (isDemanded(call, models, rulesOf) ? responses : chat), chat.fault);
}

function isDemanded({ body, upstreamModel }: Call, models: RegExp, rulesOf: Table): boolean {
  const { tools, functions } = body;
  if (tools === undefined && functions === undefined) return false;
  if (
    !listOf(tools).some((tool) => isObject(tool) && (tool['type'] ?? 'function') === 'function') &&
    listOf(functions).length === 0
  )
    return false;
  if (!models.test(upstreamModel)) return false;
  const { effort } = rulesOf(upstreamModel);
  return reasons(
    body,
    effort,
    body['reasoning_effort'] ?? (effort && foreignWish(body, effort)?.effort),
  );
}
