import {
  type JsonChange,
  jsonText,
  type JsonObject,
  objectOf,
  countOf,
  isObject,
} from '../../base/json.ts';
import { refuse } from '../../base/refusal.ts';
import type { UnsupportedParam } from '../adapter.ts';
import {
  type EffortRule,
  type MemberRule,
  type SupportRow,
  type ReasoningEffort,
  reasoningEfforts,
} from './rows.ts';

/** Settings of rows, of which the last row that has one decides. */
type Settings = Omit<
  { readonly [Key in keyof SupportRow]-?: SupportRow[Key] | undefined },
  'source' | 'models' | 'while' | 'refusesItself' | 'closed' | 'lacks' | 'members' | ListedTypes
>;
type ListedTypes = 'tools' | 'parts';

/** The rules of one model: the rows of a vendor's table that apply to it, merged. */
export interface ModelRules extends Settings {
  /** Rules that always hold, by the path of the member. The rules of `while` rows follow. */
  readonly members: MemberRules;
  readonly whileReasoning: MemberRules;
  readonly whileSilent: MemberRules;
  readonly whileToolless: MemberRules;
  readonly forcedWhileReasoning: SupportRow['forced'];
  readonly schemaWhileReasoning: SupportRow['schema'];
  readonly tools: ReadonlySet<string> | undefined;
  readonly parts: ReadonlySet<string> | undefined;
  /** Whether the vendor itself refuses types of tools, and of parts, that are not listed. */
  readonly refusesTools: boolean;
  readonly refusesParts: boolean;
}

interface MemberRules {
  readonly top: ReadonlyMap<string, MemberRule>;
  /** Members of members (`text.verbosity`). */
  readonly inner: readonly {
    readonly holder: string;
    readonly name: string;
    readonly rule: MemberRule;
  }[];
}

/** The rules of a vendor's models, by the upstream id. */
export type SupportTable = (model: string) => ModelRules;

/**
 * The most models whose rules are cached. A vendor sells fewer; more ids can only come from a
 * catalog that changes.
 */
const modelsMax = 4_096;

/**
 * A vendor's table, ready for look-ups. `unsupported` has the rule of each member that a row's
 * `lacks` names.
 */
export function supportTable(
  rows: readonly SupportRow[],
  unsupported: Readonly<Record<string, MemberRule>>,
): SupportTable {
  const known = new Map<string, ModelRules>();
  return (model) => {
    let rules = known.get(model);
    if (rules === undefined) {
      if (known.size >= modelsMax) known.clear();
      known.set(model, (rules = rulesFor(model, rows, unsupported)));
    }
    return rules;
  };
}

function rulesFor(
  model: string,
  rows: readonly SupportRow[],
  unsupported: Readonly<Record<string, MemberRule>>,
): ModelRules {
  const holding = rows.filter(({ models }) => models === undefined || models.test(model));
  const membersOf = (when: SupportRow['while']): MemberRules => {
    const all = new Map<string, MemberRule>();
    const closed = holding.some((row) => row.closed);
    const lacking = (rule: MemberRule): MemberRule =>
      closed ? { ...rule, takes: [], idle: [...(rule.takes ?? []), ...(rule.idle ?? [])] } : rule;
    for (const row of holding.filter((one) => one.while === when)) {
      const said = (rule: MemberRule): MemberRule =>
        row.refusesItself ? refusedByVendor(rule) : rule;
      for (const name of row.lacks ?? [])
        all.set(name, said(lacking(unsupported[name] ?? missingRule(name))));
      for (const [name, rule] of Object.entries(row.members ?? {})) all.set(name, said(rule));
    }
    const inner = [...all].filter(([path]) => path.includes('.'));
    return {
      top: new Map([...all].filter(([path]) => !path.includes('.'))),
      inner: inner.map(([path, rule]) => ({
        holder: path.split('.')[0] ?? '',
        name: path.split('.')[1] ?? '',
        rule,
      })),
    };
  };
  const last = <Key extends keyof SupportRow>(
    key: Key,
    when?: 'reasoning',
  ): SupportRow[Key] | undefined =>
    holding.findLast((row) => row[key] !== undefined && row.while === when)?.[key];
  const refuses = (key: ListedTypes): boolean =>
    holding.findLast((row) => row[key] !== undefined)?.refusesItself === true;
  const tools = last('tools');
  const parts = last('parts');
  return {
    members: membersOf(undefined),
    whileReasoning: membersOf('reasoning'),
    whileSilent: membersOf('silent'),
    whileToolless: membersOf('toolless'),
    effort: last('effort'),
    tools: tools && new Set(tools),
    toolsLack: last('toolsLack'),
    untypedTools: last('untypedTools'),
    choices: last('choices'),
    lacksNone: last('lacksNone'),
    lacksChoice: last('lacksChoice'),
    strict: last('strict'),
    allowedTools: last('allowedTools'),
    forced: last('forced'),
    forcedWhileReasoning: last('forced', 'reasoning'),
    schema: last('schema'),
    schemaWhileReasoning: last('schema', 'reasoning'),
    formatBesideTools: last('formatBesideTools'),
    stops: last('stops'),
    limit: last('limit'),
    developer: last('developer'),
    parts: parts && new Set(parts),
    refusesTools: refuses('tools'),
    refusesParts: refuses('parts'),
    messages: last('messages'),
  };
}

function refusedByVendor(rule: MemberRule): MemberRule {
  const { otherwise } = rule;
  return otherwise === undefined || otherwise === 'drop'
    ? rule
    : { ...rule, otherwise: { refuse: otherwise.refuse, byVendor: true } };
}

function missingRule(name: string): never {
  throw new Error(`unsupported.ts has no rule for '${name}'`);
}

/**
 * The result of the rules for one request: edits of the client's bytes, and the paths that were
 * left out.
 */
export interface RequestEdits {
  readonly changes: JsonChange[];
  readonly dropped: string[];
  /** The member that the vendor itself refuses (`VendorRequest.unsupported`). */
  unsupported?: UnsupportedParam;
}

/**
 * Applies the rules of members to a request. Throws the Refusal of a member that changes the
 * meaning and is not taken. `model` is the client's name of the model.
 */
export function fitMembers(
  body: JsonObject,
  model: string,
  { top, inner }: MemberRules,
  edits: RequestEdits,
): void {
  if (top.size > 0)
    for (const name in body) {
      const rule = top.get(name);
      if (rule !== undefined) fitMember([name], body[name], rule, body, model, edits);
    }
  for (const { holder, name, rule } of inner) {
    const within = objectOf(body[holder]);
    if (within?.[name] !== undefined)
      fitMember([holder, name], within[name], rule, within, model, edits);
  }
}

function fitMember(
  path: readonly string[],
  value: unknown,
  rule: MemberRule,
  holder: JsonObject,
  model: string,
  edits: RequestEdits,
): void {
  const { changes, dropped } = edits;
  if (value === undefined) return;
  const mapped = typeof value === 'string' ? rule.values?.[value] : nearest(value, rule.within);
  if (mapped !== undefined || isSupported(rule, value)) {
    const name =
      rule.as !== undefined && holder[rule.as] === undefined ? { name: rule.as } : undefined;
    const json = mapped === undefined ? undefined : { json: jsonText(mapped) };
    if (name !== undefined || json !== undefined) changes.push({ path, ...json, ...name });
    return;
  }
  const { otherwise = 'drop' } = rule;
  const says = value !== null && !includesValue(rule.idle ?? [], value);
  if (says && otherwise !== 'drop')
    return reportUnsupported(
      path.join('.'),
      model,
      otherwise.refuse,
      otherwise.byVendor === true,
      edits,
    );
  changes.push({ path });
  if (says) dropped.push(path.join('.'));
}

/** The limit that is sent in place of a number beyond it. */
function nearest(value: unknown, within: MemberRule['within']): number | undefined {
  if (typeof value !== 'number' || within === undefined) return undefined;
  const [least, most] = within;
  return value < least ? least : value > most ? most : undefined;
}

const isSupported = ({ takes, otherwise }: MemberRule, value: unknown): boolean =>
  takes === undefined ? otherwise === undefined : includesValue(takes, value);

/** Whether `value` equals one of `taken`, which are small: scalars, or short lists and objects. */
export function includesValue(taken: readonly unknown[], value: unknown): boolean {
  if (taken.includes(value)) return true;
  return (
    typeof value === 'object' &&
    value !== null &&
    taken.some((one) => typeof one === 'object' && JSON.stringify(one) === JSON.stringify(value))
  );
}

/**
 * The 400 that names the member. The gateway tries the model's other channels first, and adds the
 * models that take it.
 */
export function refuseParam(param: string, model: string, why: string): never {
  refuse('unsupported_parameter', { param, model, why });
}

/**
 * As `refuseParam`, unless `byVendor`: the vendor itself refuses the member, so that nothing is
 * thrown and `edits.unsupported` names it.
 */
export function reportUnsupported(
  param: string,
  model: string,
  why: string,
  byVendor: boolean,
  edits: RequestEdits,
): void {
  if (!byVendor) refuseParam(param, model, why);
  edits.unsupported ??= { param, why };
}

/** Adds the path of a member that was left out, once. */
export function noteDropped(path: string, { dropped }: RequestEdits): void {
  if (!dropped.includes(path)) dropped.push(path);
}

const rank = (effort: unknown): number => reasoningEfforts.findIndex((one) => one === effort);
export const isEffort = (value: unknown): value is ReasoningEffort => rank(value) >= 0;

/** The effort that stands for a budget of thinking tokens. */
export const effortOfBudget = (tokens: number): ReasoningEffort =>
  tokens > 16_000 ? 'high' : tokens > 4_000 ? 'medium' : 'low';

/** The effort that the model takes for the client's effort; undefined where it takes none. */
export function effortFor(
  { takes, map }: EffortRule,
  requested: ReasoningEffort,
): string | undefined {
  const mapped = map?.[requested];
  if (mapped !== undefined || takes.includes(requested)) return mapped ?? requested;
  if (requested === 'none') return takes[0];
  // The client requested some thinking: `none` is not used for it, however low its effort.
  const thinking = takes.filter((one) => one !== 'none');
  return thinking.findLast((one) => rank(one) >= 0 && rank(one) < rank(requested)) ?? thinking[0];
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
interface ForeignEffort {
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
  const setting = isObject(value) ? value : {};
  if (isEffort(setting['effort'])) return setting['effort'];
  if (setting['type'] === 'disabled' || setting['enabled'] === false) return 'none';
  const budget = countOf(setting['budget_tokens']) ?? countOf(setting['max_tokens']);
  if (budget !== undefined) return effortOfBudget(budget);
  return usual === 'none' && value !== null && setting['type'] !== 'auto' ? 'medium' : undefined;
}

/**
 * Whether the model will reason before it answers this request. `requested`: the client's effort.
 */
export function reasons(
  body: JsonObject,
  rule: EffortRule | undefined,
  requested: unknown,
): boolean {
  if (rule === undefined) return false;
  const own = switchState(body, rule.switch?.member);
  if (own !== undefined) return own;
  if (!isEffort(requested)) return rule.usual !== 'none';
  if (requested === 'none' && rule.switch?.off !== undefined) return false;
  if (rule.takes.length === 0 && rule.switch?.on === undefined) return rule.usual !== 'none';
  return effortFor(rule, requested) !== 'none';
}

/** Whether the client requests an amount of thinking, or none. */
export const asksForEffort = (
  body: JsonObject,
  { switch: by }: EffortRule,
  requested: unknown,
): boolean => isEffort(requested) || (by !== undefined && body[by.member] !== undefined);

/**
 * Sends the client's effort in the model's form. `path` is the path of OpenAI's effort in the
 * request. `foreign` is the other vendor's member by which the client gave its effort. An unknown
 * effort is sent unchanged.
 */
export function fitEffort(
  body: JsonObject,
  path: readonly string[],
  requested: unknown,
  rule: EffortRule,
  { changes, dropped }: RequestEdits,
  foreign?: string,
): void {
  if (requested === undefined) return;
  if (requested === null) {
    if (rule.takes.length === 0) changes.push({ path });
    return;
  }
  if (!isEffort(requested)) return;
  const { takes, switch: by } = rule;
  const wanted = requested === 'none' ? by?.off : by?.on;
  if (by !== undefined && wanted !== undefined && body[by.member] === undefined)
    changes.push({ path: [by.member], json: jsonText(wanted) });
  const budget = by?.budget?.tokens[requested];
  if (by?.budget !== undefined && budget !== undefined && body[by.budget.member] === undefined)
    changes.push({ path: [by.budget.member], json: String(budget) });
  // Where the switch turns thinking off, an effort is sent only if the vendor takes the effort
  // `none`.
  const effort =
    requested === 'none' && wanted !== undefined && !takes.includes('none')
      ? undefined
      : effortFor(rule, requested);
  if (effort === requested && foreign === undefined) return;
  if (effort !== undefined) changes.push({ path, json: jsonText(effort) });
  else if (foreign === undefined) changes.push({ path });
  // A model that never thinks fulfils the effort `none`: nothing is dropped.
  const obeys = requested === 'none' && rule.usual === 'none';
  if (effort === undefined && wanted === undefined && !obeys)
    dropped.push(foreign ?? path.join('.'));
}

/** Whether the model has rules for messages beside those for members of the request. */
export const hasMessageRules = ({ developer, messages, parts }: ModelRules): boolean =>
  developer !== undefined || messages !== undefined || parts !== undefined;
