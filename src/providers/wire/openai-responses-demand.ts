import type { Adapter, Call } from '../adapter.ts';
import { isObject, listOf } from './json.ts';
import { perCall } from './per-call.ts';

/** Models that call functions on `/responses` only, while they reason. */
export interface ResponsesDemand {
  readonly models: RegExp;
  /** With this effort the model does not reason, and chat takes functions. */
  readonly unlessEffort?: string;
  /** What the effort is when nobody says. */
  readonly defaultEffort?: string;
}

/** The one adapter or the other, for each call: `/responses` where the vendor demands it, and only there. */
export function chatUnlessDemanded(
  chat: Adapter,
  responses: Adapter,
  demands: readonly ResponsesDemand[],
): Adapter {
  return perCall((call) => (isDemanded(call, demands) ? responses : chat), chat.fault);
}

function isDemanded({ body, upstreamModel }: Call, demands: readonly ResponsesDemand[]): boolean {
  const { tools, functions } = body;
  if (tools === undefined && functions === undefined) return false;
  if (
    !listOf(tools).some((tool) => isObject(tool) && tool['type'] === 'function') &&
    listOf(functions).length === 0
  )
    return false;
  const asked = body['reasoning_effort'];
  return demands.some(
    ({ models, unlessEffort, defaultEffort }) =>
      models.test(upstreamModel) &&
      (unlessEffort === undefined || unlessEffort !== (asked ?? defaultEffort)),
  );
}
