import { jsonText } from '../../base/json-edit.ts';
import { countOf, isObject, type JsonObject } from '../../base/json-value.ts';
import { type ReasoningEffort, type EffortRule, reasoningEfforts } from './rows.ts';
import type { RequestEdits } from './rules.ts';

const rank = (effort: unknown): number => reasoningEfforts.findIndex((one) => one === effort);
export const isEffort = (value: unknown): value is ReasoningEffort => rank(value) >= 0;

/** The effort that the model takes for the client's effort; undefined where it takes none. */
export function effortFor({ takes, map }: EffortRule, asked: ReasoningEffort): string | undefined {
  const mapped = map?.[asked];
  if (mapped !== undefined || takes.includes(asked)) return mapped ?? asked;
  if (asked === 'none') return takes[0];
  // The client requested some thinking: `none` is not used for it, however low its effort.
  const thinking = takes.filter((one) => one !== 'none');
  return thinking.findLast((one) => rank(one) >= 0 && rank(one) < rank(asked)) ?? thinking[0];
}

/**
 * Whether the client has turned thinking on or off with the vendor's own switch; undefined: it has
 * not.
 */
function switchState(body: JsonObject, member: string | undefined): boolean | undefined {
  const value = member === undefined ? undefined : body[member];
  if (typeof value === 'boolean') return value;
  return isObject(value) && typeof value['type'] === 'string'
    ? value['type'] !== 'disabled'
    : undefined;
}

/** Members of other vendors that set the amount of thinking. */
const foreignMembers = ['reasoning', 'thinking', 'enable_thinking'] as const;

/** An effort that the client requests by another vendor's member. */
export interface ForeignEffort {
  readonly member: string;
  /** Undefined: the client requests the model's default. */
  readonly effort: ReasoningEffort | undefined;
}

/** The effort that the client requests by a member that this vendor does not read. */
export function foreignEffort(body: JsonObject, rule: EffortRule): ForeignEffort | undefined {
  for (const member of foreignMembers) {
    const value = body[member];
    if (value === undefined || member === rule.switch?.member || rule.reads?.includes(member))
      continue;
    return { member, effort: effortIn(value, rule) };
  }
  return undefined;
}

/**
 * `{effort}`, `{enabled}`, `{max_tokens}` (OpenRouter), `{type, budget_tokens}` (Anthropic,
 * DeepSeek, Zhipu, Moonshot, Ark), a boolean (Qwen).
 */
function effortIn(value: unknown, { usual }: EffortRule): ReasoningEffort | undefined {
  if (value === false) return 'none';
  const wish = isObject(value) ? value : {};
  if (isEffort(wish['effort'])) return wish['effort'];
  if (wish['type'] === 'disabled' || wish['enabled'] === false) return 'none';
  const budget = countOf(wish['budget_tokens']) ?? countOf(wish['max_tokens']);
  if (budget !== undefined) return budget > 16_000 ? 'high' : budget > 4_000 ? 'medium' : 'low';
  return usual === 'none' && value !== null && wish['type'] !== 'auto' ? 'medium' : undefined;
}

/** Whether the model will reason before it answers this request; `asked` is the client's effort. */
export function reasons(body: JsonObject, rule: EffortRule | undefined, asked: unknown): boolean {
  if (rule === undefined) return false;
  const own = switchState(body, rule.switch?.member);
  if (own !== undefined) return own;
  if (!isEffort(asked)) return rule.usual !== 'none';
  if (asked === 'none' && rule.switch?.off !== undefined) return false;
  if (rule.takes.length === 0 && rule.switch?.on === undefined) return rule.usual !== 'none';
  return effortFor(rule, asked) !== 'none';
}

/** Whether the client requests an amount of thinking, or none. */
export const asksForEffort = (
  body: JsonObject,
  { switch: by }: EffortRule,
  asked: unknown,
): boolean => isEffort(asked) || (by !== undefined && body[by.member] !== undefined);

/**
 * Sends the client's effort in the model's form. `path` is the path of OpenAI's effort in the
 * request. `told` is the other vendor's member by which the client gave its effort. An unknown
 * effort is sent unchanged.
 */
export function fitEffort(
  body: JsonObject,
  path: readonly string[],
  asked: unknown,
  rule: EffortRule,
  { changes, dropped }: RequestEdits,
  told?: string,
): void {
  if (asked === undefined) return;
  if (asked === null) {
    if (rule.takes.length === 0) changes.push({ path });
    return;
  }
  if (!isEffort(asked)) return;
  const { takes, switch: by } = rule;
  const wanted = asked === 'none' ? by?.off : by?.on;
  if (by !== undefined && wanted !== undefined && body[by.member] === undefined)
    changes.push({ path: [by.member], json: jsonText(wanted) });
  const budget = by?.budget?.tokens[asked];
  if (by?.budget !== undefined && budget !== undefined && body[by.budget.member] === undefined)
    changes.push({ path: [by.budget.member], json: String(budget) });
  // Where the switch turns thinking off, an effort is sent only if the vendor takes the effort
  // `none`.
  const effort =
    asked === 'none' && wanted !== undefined && !takes.includes('none')
      ? undefined
      : effortFor(rule, asked);
  if (effort === asked && told === undefined) return;
  if (effort !== undefined) changes.push({ path, json: jsonText(effort) });
  else if (told === undefined) changes.push({ path });
  // A model that never thinks fulfils the effort `none`: nothing is dropped.
  const obeys = asked === 'none' && rule.usual === 'none';
  if (effort === undefined && wanted === undefined && !obeys) dropped.push(told ?? path.join('.'));
}
