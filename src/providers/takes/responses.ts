import type { Call } from '../adapter.ts';
import { objectOf } from '../wire/json.ts';
import { reasons, takeEffort } from './effort.ts';
import { type Rules, type Taken, takeMembers } from './rules.ts';
import { takeTools } from './tools.ts';

/**
 * Fits a request to `/v1/responses` to one model: edits of the client's bytes, and the members that
 * are left out.
 */
export function takeResponse({ body, publicModel }: Call, rules: Rules): Taken {
  const taken: Taken = { changes: [], dropped: [] };
  const asked = objectOf(body['reasoning'])?.['effort'];
  const reasoning = reasons(body, rules.effort, asked);
  takeMembers(body, publicModel, rules.members, taken);
  takeMembers(body, publicModel, reasoning ? rules.whileReasoning : rules.whileSilent, taken);
  // A rule for all of `reasoning` decides about its effort, too.
  if (rules.effort !== undefined && asked !== undefined && !rules.members.top.has('reasoning'))
    takeEffort(body, ['reasoning', 'effort'], asked, rules.effort, taken);
  takeTools(body['tools'], publicModel, rules, taken);
  return taken;
}
