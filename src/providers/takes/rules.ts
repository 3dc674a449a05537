import { type Change, jsonText } from '../../base/json-edit.ts';
import { refuse } from '../../base/refusal.ts';
import type { NotTaken } from '../adapter.ts';
import { type JsonObject, objectOf } from '../wire/json.ts';
import type {
  EffortRule,
  ForcedRule,
  LimitRule,
  MemberRule,
  SchemaRule,
  TakesRow,
  TurnsRule,
} from './contract.ts';

/** What a vendor's table says of one model: its rows, put together. */
export interface Rules {
  readonly model: string;
  /** Rules that always hold, by the path of the member. The rules of `while` rows follow. */
  readonly members: Members;
  readonly whileReasoning: Members;
  readonly whileSilent: Members;
  readonly whileToolless: Members;
  readonly effort: EffortRule | undefined;
  readonly tools: ReadonlySet<string> | undefined;
  readonly toolsLack: readonly string[] | undefined;
  readonly untypedTools: true | undefined;
  readonly choices: readonly string[] | undefined;
  readonly lacksNone: true | undefined;
  readonly lacksChoice: true | undefined;
  readonly strict: 'closed' | undefined;
  readonly allowedTools: true | undefined;
  readonly forced: ForcedRule | undefined;
  readonly forcedWhileReasoning: ForcedRule | undefined;
  readonly schema: SchemaRule | undefined;
  readonly schemaWhileReasoning: SchemaRule | undefined;
  readonly formatBesideTools: 'words' | undefined;
  readonly stops: number | undefined;
  readonly limit: LimitRule | undefined;
  readonly developer: 'system' | undefined;
  readonly parts: ReadonlySet<string> | undefined;
  /** Whether the vendor itself refuses types of tools, and of parts, that are not listed. */
  readonly refusesTools: boolean;
  readonly refusesParts: boolean;
  readonly turns: TurnsRule | undefined;
}

export interface Members {
  readonly top: ReadonlyMap<string, MemberRule>;
  /** Members of members (`text.verbosity`). */
  readonly inner: readonly {
    readonly holder: string;
    readonly name: string;
    readonly rule: MemberRule;
  }[];
}

/** The rules of a vendor's models, by the upstream id. */
export type Table = (model: string) => Rules;

/**
 * How many models' rules are kept. A vendor sells fewer; more ids can only come from a catalogue
 * that changes.
 */
const modelsMax = 4_096;

/**
 * A vendor's table, ready for look-ups. `untaken` has the rule of each member that a row's `lacks`
 * names.
 */
export function tableOf(
  rows: readonly TakesRow[],
  untaken: Readonly<Record<string, MemberRule>>,
): Table {
  const known = new Map<string, Rules>();
  return (model) => {
    let rules = known.get(model);
    if (rules === undefined) {
      if (known.size >= modelsMax) known.clear();
      known.set(model, (rules = rulesFor(model, rows, untaken)));
    }
    return rules;
  };
}

function rulesFor(
  model: string,
  rows: readonly TakesRow[],
  untaken: Readonly<Record<string, MemberRule>>,
): Rules {
  const holding = rows.filter(({ models }) => models === undefined || models.test(model));
  const membersOf = (when: TakesRow['while']): Members => {
    const all = new Map<string, MemberRule>();
    const closed = holding.some((row) => row.closed);
    const lacking = (rule: MemberRule): MemberRule =>
      closed ? { ...rule, takes: [], idle: [...(rule.takes ?? []), ...(rule.idle ?? [])] } : rule;
    for (const row of holding.filter((one) => one.while === when)) {
      const said = (rule: MemberRule): MemberRule =>
        row.refusesItself ? saidByVendor(rule) : rule;
      for (const name of row.lacks ?? [])
        all.set(name, said(lacking(untaken[name] ?? withoutRule(name))));
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
  const last = <Key extends keyof TakesRow>(
    key: Key,
    when?: 'reasoning',
  ): TakesRow[Key] | undefined =>
    holding.findLast((row) => row[key] !== undefined && row.while === when)?.[key];
  const refuses = (key: 'tools' | 'parts'): boolean =>
    holding.findLast((row) => row[key] !== undefined)?.refusesItself === true;
  const tools = last('tools');
  const parts = last('parts');
  return {
    model,
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
    turns: last('turns'),
  };
}

function saidByVendor(rule: MemberRule): MemberRule {
  const { otherwise } = rule;
  return otherwise === undefined || otherwise === 'drop'
    ? rule
    : { ...rule, otherwise: { refuse: otherwise.refuse, byVendor: true } };
}

function withoutRule(name: string): never {
  throw new Error(`untaken.ts has no rule for '${name}'`);
}

/**
 * The result of the rules for one request: edits of the client's bytes, and the paths that were
 * left out.
 */
export interface Taken {
  readonly changes: Change[];
  readonly dropped: string[];
  /** What the vendor itself refuses (`Ask.untaken`). */
  untaken?: NotTaken;
}

/**
 * Applies the rules of members to a request. Throws the Refusal of a member that changes the
 * meaning and is not taken. `model` is the client's name of the model.
 */
export function takeMembers(
  body: JsonObject,
  model: string,
  { top, inner }: Members,
  taken: Taken,
): void {
  if (top.size > 0)
    for (const name in body) {
      const rule = top.get(name);
      if (rule !== undefined) takeMember([name], body[name], rule, body, model, taken);
    }
  for (const { holder, name, rule } of inner) {
    const within = objectOf(body[holder]);
    if (within?.[name] !== undefined)
      takeMember([holder, name], within[name], rule, within, model, taken);
  }
}

function takeMember(
  path: readonly string[],
  value: unknown,
  rule: MemberRule,
  holder: JsonObject,
  model: string,
  taken: Taken,
): void {
  const { changes, dropped } = taken;
  if (value === undefined) return;
  const mapped = typeof value === 'string' ? rule.values?.[value] : undefined;
  if (mapped !== undefined || isTaken(rule, value)) {
    const name =
      rule.as !== undefined && holder[rule.as] === undefined ? { name: rule.as } : undefined;
    const json = mapped === undefined ? undefined : { json: jsonText(mapped) };
    if (name !== undefined || json !== undefined) changes.push({ path, ...json, ...name });
    return;
  }
  const { otherwise = 'drop' } = rule;
  const says = value !== null && !isAmong(rule.idle ?? [], value);
  if (says && otherwise !== 'drop')
    return notTaken(path.join('.'), model, otherwise.refuse, otherwise.byVendor === true, taken);
  changes.push({ path });
  if (says) dropped.push(path.join('.'));
}

const isTaken = ({ takes, otherwise }: MemberRule, value: unknown): boolean =>
  takes === undefined ? otherwise === undefined : isAmong(takes, value);

/**
 * Whether `value` equals one of `taken`, which are small: scalars, or lists and objects of a few
 * words.
 */
export function isAmong(taken: readonly unknown[], value: unknown): boolean {
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
export function refuseMember(param: string, model: string, why: string): never {
  refuse('unsupported_parameter', { param, model, why });
}

/**
 * The same. `byVendor`: the vendor itself refuses the member, so that nothing is thrown and
 * `taken.untaken` names it.
 */
export function notTaken(
  param: string,
  model: string,
  why: string,
  byVendor: boolean,
  taken: Taken,
): void {
  if (!byVendor) refuseMember(param, model, why);
  taken.untaken ??= { param, why };
}

/** Notes what was left out, once. */
export function note(path: string, { dropped }: Taken): void {
  if (!dropped.includes(path)) dropped.push(path);
}
