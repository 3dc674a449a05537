import { jsonText } from '../../base/json-edit.ts';
import type { Call } from '../adapter.ts';
import { isObject, type JsonObject, listOf, objectOf } from '../wire/json.ts';
import { stopWords } from '../wire/stop-text.ts';
import type { LimitRule } from './contract.ts';
import { foreignWish, reasons, saysEffort, takeEffort } from './effort.ts';
import { note, type Rules, type Taken, takeMembers } from './rules.ts';
import { isClosed, nameOf, openaisChoice, takeTools } from './tools.ts';
import { takeTurns } from './turns.ts';
import { choiceWords, formatWords, instruct, singleCallWords } from './words.ts';

/**
 * Fits a chat completion to one model: edits of the client's bytes, and the members that are left
 * out. Throws the Refusal of a member that changes the meaning and has no equivalent.
 */
export function takeChat(call: Call, rules: Rules): Taken {
  const taken: Taken = { changes: [], dropped: [] };
  const { body, publicModel } = call;
  const { effort } = rules;
  const wish = effort === undefined ? undefined : foreignWish(body, effort);
  const asked = body['reasoning_effort'] ?? wish?.effort;
  const words: string[] = [];
  const silenced = takeChoice(call, rules, asked, words, taken);
  const reasoning = !silenced && reasons(body, effort, asked);
  takeMembers(body, publicModel, rules.members, taken);
  takeMembers(body, publicModel, reasoning ? rules.whileReasoning : rules.whileSilent, taken);
  if (body['tools'] == null && body['functions'] == null)
    takeMembers(body, publicModel, rules.whileToolless, taken);
  if (effort !== undefined && (asked !== undefined || wish !== undefined)) {
    const told = body['reasoning_effort'] == null ? wish?.member : undefined;
    if (wish !== undefined) taken.changes.push({ path: [wish.member] });
    takeEffort(body, ['reasoning_effort'], asked, effort, taken, told);
  }
  if (taken.dropped.includes('parallel_tool_calls')) words.push(...singleCallWords(body));
  takeTools(body['tools'], publicModel, rules, taken);
  takeFormat(body, rules, reasoning, words, taken);
  takeStops(body, rules.stops, taken);
  takeLimit(call, rules.limit, taken);
  takeTurns(body['messages'], publicModel, rules, reasoning, taken);
  instruct(body['messages'], words, taken.changes);
  return taken;
}

/** Whether the choice forces a call: `required`, or a named tool. */
const isForced = (choice: unknown): boolean =>
  choice === 'required' || (isObject(choice) && choice['type'] !== 'allowed_tools');

/** Writes the client's `tool_choice` in a form that the vendor has, and returns it. */
function choiceOf(
  { body }: Call,
  { allowedTools, choices, lacksNone }: Rules,
  { changes }: Taken,
): unknown {
  const given = body['tool_choice'];
  const choice = openaisChoice(given, choices);
  if (choice === 'none' && lacksNone === true) {
    changes.push({ path: ['tools'] }, { path: ['tool_choice'] });
    return choice;
  }
  const allowed =
    isObject(choice) && choice['type'] === 'allowed_tools'
      ? objectOf(choice['allowed_tools'])
      : undefined;
  if (allowed === undefined || allowedTools === true) {
    if (choice !== given) changes.push({ path: ['tool_choice'], json: jsonText(choice) });
    return choice;
  }
  // The vendor knows no list of allowed tools. Without the other tools the request means the same.
  const names = new Set(listOf(allowed['tools']).map(nameOf));
  const mode = allowed['mode'] === 'required' ? 'required' : 'auto';
  listOf(body['tools']).forEach((tool, i) => {
    if (!names.has(nameOf(tool))) changes.push({ path: ['tools', i] });
  });
  changes.push({ path: ['tool_choice'], json: `"${mode}"` });
  return mode;
}

/**
 * Sends a forced tool by the vendor's rule. True: thinking is turned off, so that the call can be
 * forced.
 */
function takeChoice(
  call: Call,
  rules: Rules,
  asked: unknown,
  words: string[],
  taken: Taken,
): boolean {
  const { body } = call;
  const { changes } = taken;
  if (body['tool_choice'] === undefined) return false;
  const { forced, forcedWhileReasoning, effort } = rules;
  const choice = choiceOf(call, rules, taken);
  if (rules.lacksChoice === true) changes.push({ path: ['tool_choice'] });
  if ((forced === undefined && forcedWhileReasoning === undefined) || !isForced(choice))
    return false;
  const silence = forcedWhileReasoning !== undefined && reasons(body, effort, asked);
  const by = effort?.switch;
  const isSilenced =
    silence && effort !== undefined && by?.off !== undefined && !saysEffort(body, effort, asked);
  const tools = listOf(body['tools']);
  const lacksRequired =
    choice === 'required' && (forced === 'required' || (forced === 'named' && tools.length !== 1));
  if (forced === 'words' || lacksRequired || (silence && !isSilenced)) {
    if (rules.lacksChoice === undefined) changes.push({ path: ['tool_choice'], json: '"auto"' });
    words.push(choiceWords(choice));
    return false;
  }
  if (isSilenced) changes.push({ path: [by.member], json: jsonText(by.off) });
  // There is one tool that can be meant: it is named.
  if (choice === 'required' && forced === 'named')
    changes.push({
      path: ['tool_choice'],
      json: jsonText({ type: 'function', function: { name: nameOf(tools[0]) } }),
    });
  return isSilenced;
}

function takeFormat(
  body: JsonObject,
  rules: Rules,
  reasoning: boolean,
  words: string[],
  taken: Taken,
): void {
  const { changes } = taken;
  const format = objectOf(body['response_format']);
  if (format === undefined || format['type'] === 'text') return;
  const beside = listOf(body['tools']).length > 0 ? 'tools' : 'nothing';
  const schema = (reasoning ? rules.schemaWhileReasoning : undefined) ?? rules.schema;
  const inWords = beside === 'tools' ? rules.formatBesideTools : undefined;
  const way = inWords ?? (format['type'] === 'json_schema' ? schema : undefined);
  if (way === undefined) return rules.strict === 'closed' ? takeStrict(format, taken) : undefined;
  changes.push({
    path: ['response_format'],
    ...(way === 'object' ? { json: '{"type":"json_object"}' } : {}),
  });
  words.push(formatWords(format, beside));
}

/** A schema that is not closed is refused with `strict`, and keeps its meaning without it. */
function takeStrict(format: JsonObject, taken: Taken): void {
  const told = objectOf(format['json_schema']);
  if (told?.['strict'] !== true || isClosed(told['schema'])) return;
  taken.changes.push({ path: ['response_format', 'json_schema', 'strict'] });
  note('response_format.json_schema.strict', taken);
}

/**
 * The stop texts that the gateway watches for, because the model does not take so many. Undefined:
 * none.
 */
export function watchedStops(
  body: JsonObject,
  stops: number | undefined,
): readonly string[] | undefined {
  if (stops === undefined || body['stop'] === undefined) return undefined;
  const words = stopWords(body['stop']);
  return words.length > stops ? words : undefined;
}

function takeStops(body: JsonObject, stops: number | undefined, { changes }: Taken): void {
  if (stops === 0 && body['stop'] === null) changes.push({ path: ['stop'] });
  const watched = watchedStops(body, stops);
  if (watched === undefined || stops === undefined) return;
  // The vendor stops at those that it takes, and bills nothing after them.
  changes.push({
    path: ['stop'],
    ...(stops === 0 ? {} : { json: jsonText(watched.slice(0, stops)) }),
  });
}

const limits = ['max_tokens', 'max_completion_tokens'] as const;

/**
 * Sends the client's output limit under the vendor's name, or our limit if the money allows less.
 * Of two limits `max_completion_tokens` wins (row 16).
 */
function takeLimit(
  { body, outputTokensMax }: Call,
  rule: LimitRule | undefined,
  { changes }: Taken,
): void {
  const { name, takesBoth } = rule ?? { name: 'max_completion_tokens', takesBoth: true };
  const given = limits.filter((limit) => body[limit] !== undefined);
  const [kept] = given.length === 2 ? ['max_completion_tokens' as const] : given;
  const ours = outputTokensMax === undefined ? undefined : String(outputTokensMax);
  if (!kept) {
    if (ours) changes.push({ path: [name], json: ours });
    return;
  }
  for (const limit of given) {
    // OpenAI refuses both names together. A server that reads the older name may know no other.
    if (limit !== kept && (!takesBoth || limit !== name)) changes.push({ path: [limit] });
    else if (!takesBoth && limit !== name)
      changes.push({ path: [limit], name, ...(ours ? { json: ours } : {}) });
    else if (ours) changes.push({ path: [limit], json: ours });
  }
}
