import {
  jsonText,
  type JsonChange,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  textOf,
} from '../../base/json.ts';
import type { VendorCall } from '../adapter.ts';
import { stopWords } from '../conversation/stop-text.ts';
import { fitMessages, isSystem } from './messages.ts';
import {
  asksForEffort,
  fitEffort,
  fitMembers,
  foreignEffort,
  hasMessageRules,
  noteDropped,
  reasons,
  reportUnsupported,
  type ModelRules,
  type RequestEdits,
} from './rules.ts';
import type { LimitRule } from './rows.ts';

/**
 * Fits a chat completion to one model: edits of the client's bytes, and the members that are left
 * out. Throws the Refusal of a member that changes the meaning and has no equivalent.
 */
export function fitChat(call: VendorCall, rules: ModelRules): RequestEdits {
  const edits: RequestEdits = { changes: [], dropped: [] };
  const { body, publicModel } = call;
  const { effort } = rules;
  const foreign = effort === undefined ? undefined : foreignEffort(body, effort);
  const requested = body['reasoning_effort'] ?? foreign?.effort;
  const sentences: string[] = [];
  const silenced = fitToolChoice(call, rules, requested, sentences, edits);
  const reasoning = !silenced && reasons(body, effort, requested);
  fitMembers(body, publicModel, rules.members, edits);
  fitMembers(body, publicModel, reasoning ? rules.whileReasoning : rules.whileSilent, edits);
  if (body['tools'] == null && body['functions'] == null)
    fitMembers(body, publicModel, rules.whileToolless, edits);
  if (effort !== undefined && (requested !== undefined || foreign !== undefined)) {
    if (foreign !== undefined) edits.changes.push({ path: [foreign.member] });
    const source = body['reasoning_effort'] == null ? foreign?.member : undefined;
    fitEffort(body, ['reasoning_effort'], requested, effort, edits, source);
  }
  if (edits.dropped.includes('parallel_tool_calls')) sentences.push(...singleCallInstruction(body));
  fitTools(body['tools'], publicModel, rules, edits);
  fitResponseFormat(body, rules, reasoning, sentences, edits);
  fitStops(body, rules.stops, edits);
  fitOutputLimit(call, rules.limit, edits);
  if (hasMessageRules(rules)) fitMessages(body['messages'], publicModel, rules, reasoning, edits);
  addInstructions(body['messages'], sentences, edits.changes);
  return edits;
}

/** Whether the choice forces a call: `required`, or a named tool. */
const isForced = (choice: unknown): boolean =>
  choice === 'required' || (isObject(choice) && choice['type'] !== 'allowed_tools');

/** Writes the client's `tool_choice` in a form that the vendor has, and returns it. */
function choiceOf(
  { body }: VendorCall,
  { allowedTools, choices, lacksNone }: ModelRules,
  { changes }: RequestEdits,
): unknown {
  const given = body['tool_choice'];
  const choice = openaiToolChoice(given, choices);
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
  const names = new Set(listOf(allowed['tools']).map(toolName));
  const mode = allowed['mode'] === 'required' ? 'required' : 'auto';
  listOf(body['tools']).forEach((tool, i) => {
    if (!names.has(toolName(tool))) changes.push({ path: ['tools', i] });
  });
  changes.push({ path: ['tool_choice'], json: `"${mode}"` });
  return mode;
}

/**
 * Sends a forced tool by the vendor's rule. True: thinking is turned off, so that the call can be
 * forced.
 */
function fitToolChoice(
  call: VendorCall,
  rules: ModelRules,
  requested: unknown,
  sentences: string[],
  edits: RequestEdits,
): boolean {
  const { body } = call;
  const { changes } = edits;
  if (body['tool_choice'] === undefined) return false;
  const { forced, forcedWhileReasoning, effort } = rules;
  const choice = choiceOf(call, rules, edits);
  if (rules.lacksChoice === true) changes.push({ path: ['tool_choice'] });
  if ((forced === undefined && forcedWhileReasoning === undefined) || !isForced(choice))
    return false;
  const silence = forcedWhileReasoning !== undefined && reasons(body, effort, requested);
  const by = effort?.switch;
  const isSilenced =
    silence &&
    effort !== undefined &&
    by?.off !== undefined &&
    !asksForEffort(body, effort, requested);
  const tools = listOf(body['tools']);
  const lacksRequired =
    choice === 'required' && (forced === 'required' || (forced === 'named' && tools.length !== 1));
  if (forced === 'words' || lacksRequired || (silence && !isSilenced)) {
    if (rules.lacksChoice === undefined) changes.push({ path: ['tool_choice'], json: '"auto"' });
    sentences.push(choiceInstruction(choice));
    return false;
  }
  if (isSilenced) changes.push({ path: [by.member], json: jsonText(by.off) });
  // There is only one tool: the choice names it.
  if (choice === 'required' && forced === 'named')
    changes.push({
      path: ['tool_choice'],
      json: jsonText({ type: 'function', function: { name: toolName(tools[0]) } }),
    });
  return isSilenced;
}

function fitResponseFormat(
  body: JsonObject,
  rules: ModelRules,
  reasoning: boolean,
  sentences: string[],
  edits: RequestEdits,
): void {
  const { changes } = edits;
  const format = objectOf(body['response_format']);
  if (format === undefined || format['type'] === 'text') return;
  const beside = listOf(body['tools']).length > 0 ? 'tools' : 'nothing';
  const schema = (reasoning ? rules.schemaWhileReasoning : undefined) ?? rules.schema;
  const inWords = beside === 'tools' ? rules.formatBesideTools : undefined;
  const way = inWords ?? (format['type'] === 'json_schema' ? schema : undefined);
  if (way === undefined)
    return rules.strict === 'closed' ? fitStrictFormat(format, edits) : undefined;
  changes.push({
    path: ['response_format'],
    ...(way === 'object' ? { json: '{"type":"json_object"}' } : {}),
  });
  sentences.push(formatInstruction(format, beside));
}

/** A schema that is not closed is refused with `strict`, and keeps its meaning without it. */
function fitStrictFormat(format: JsonObject, edits: RequestEdits): void {
  const told = objectOf(format['json_schema']);
  if (told?.['strict'] !== true || isClosedSchema(told['schema'])) return;
  edits.changes.push({ path: ['response_format', 'json_schema', 'strict'] });
  noteDropped('response_format.json_schema.strict', edits);
}

/**
 * The stop texts that the gateway watches for, because the model takes fewer of them. Undefined:
 * none.
 */
export function stopsToWatch(
  body: JsonObject,
  stops: number | undefined,
): readonly string[] | undefined {
  if (stops === undefined || body['stop'] === undefined) return undefined;
  const words = stopWords(body['stop']);
  return words.length > stops ? words : undefined;
}

function fitStops(body: JsonObject, stops: number | undefined, { changes }: RequestEdits): void {
  // An empty list or text asks for nothing.
  if (stops === 0 && body['stop'] !== undefined && stopWords(body['stop']).length === 0)
    changes.push({ path: ['stop'] });
  const watched = stopsToWatch(body, stops);
  if (watched === undefined || stops === undefined) return;
  // The vendor stops at the stop texts that it gets, and bills nothing after them.
  changes.push({
    path: ['stop'],
    ...(stops === 0 ? {} : { json: jsonText(watched.slice(0, stops)) }),
  });
}

const limits = ['max_tokens', 'max_completion_tokens'] as const;

/**
 * Sends the client's output limit under the vendor's name, or the gateway's limit if the reserved
 * funds allow less. Of two limits `max_completion_tokens` wins.
 */
function fitOutputLimit(
  { body, outputTokensMax }: VendorCall,
  rule: LimitRule | undefined,
  { changes }: RequestEdits,
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

/**
 * Fits the tools to one model. A type that is not listed is refused. A tool without a type gets the
 * type `function`. Other vendors' hints beside the function are left out.
 */
function fitTools(tools: unknown, model: string, rules: ModelRules, edits: RequestEdits): void {
  const { tools: known, refusesTools, toolsLack, untypedTools, strict } = rules;
  if (!Array.isArray(tools)) return;
  for (let i = 0; i < tools.length; i++) {
    const tool: unknown = tools[i];
    if (!isObject(tool)) continue;
    const { type } = tool;
    const called = objectOf(tool['function']);
    if (typeof type === 'string' && known !== undefined && !known.has(type))
      reportUnsupported(
        `tools[${i}].type`,
        model,
        `it knows no tools of type '${type}'.`,
        refusesTools,
        edits,
      );
    if (
      type === undefined &&
      called !== undefined &&
      known !== undefined &&
      untypedTools === undefined
    )
      edits.changes.push({ path: ['tools', i, 'type'], json: '"function"' });
    if (toolsLack !== undefined) removeToolMembers(tool, i, toolsLack, edits);
    if (
      strict === 'closed' &&
      called?.['strict'] === true &&
      !isClosedSchema(called['parameters'] ?? {})
    ) {
      edits.changes.push({ path: ['tools', i, 'function', 'strict'] });
      noteDropped('tools[].function.strict', edits);
    }
  }
}

function removeToolMembers(
  tool: JsonObject,
  i: number,
  lacks: readonly string[],
  edits: RequestEdits,
): void {
  for (const name of lacks) {
    if (tool[name] === undefined) continue;
    edits.changes.push({ path: ['tools', i, name] });
    // A tool's own `name` repeats the function's.
    if (name !== 'name' && tool[name] !== null && tool[name] !== false)
      noteDropped(`tools[].${name}`, edits);
  }
}

/** Whether all objects of the schema take no further members, and require all that they have. */
export function isClosedSchema(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isClosedSchema);
  if (!isObject(schema)) return true;
  const { type, properties, required, additionalProperties } = schema;
  const needed = new Set(listOf(required));
  if ((type === 'object' || listOf(type).includes('object')) && additionalProperties !== false)
    return false;
  if (isObject(properties) && !Object.keys(properties).every((name) => needed.has(name)))
    return false;
  if (!isClosedSchema(schema['items']) || !isClosedSchema(schema['anyOf'])) return false;
  return ['properties', '$defs', 'definitions'].every((name) =>
    Object.values(objectOf(schema[name]) ?? {}).every(isClosedSchema),
  );
}

/**
 * A `tool_choice` in OpenAI's form, where it has the form of Anthropic's (`tool`), Mistral's
 * (`any`) or `/responses`'s.
 */
export function openaiToolChoice(choice: unknown, own: readonly string[] | undefined): unknown {
  const kind = isObject(choice) ? choice['type'] : choice;
  if (typeof kind !== 'string' || own?.includes(kind) === true) return choice;
  if (!isObject(choice)) return kind === 'any' ? 'required' : kind;
  const { name } = choice;
  const members = Object.keys(choice).length;
  if (members === 1 && (kind === 'any' || kind === 'required')) return 'required';
  if (members === 1 && (kind === 'auto' || kind === 'none')) return kind;
  if (members === 2 && typeof name === 'string' && (kind === 'tool' || kind === 'function'))
    return { type: 'function', function: { name } };
  return choice;
}

/** A tool's name, in whichever shape it is given. */
function toolName(tool: unknown): string | undefined {
  if (!isObject(tool)) return undefined;
  return textOf((objectOf(tool['function']) ?? objectOf(tool['custom']) ?? tool)['name']);
}

/** The instruction to answer in JSON, for models that take no format as a parameter. */
export function jsonInstruction(schema: JsonObject | undefined): string {
  const plain =
    'Answer with a single JSON object and nothing else: no explanation, no Markdown fence.';
  return schema === undefined
    ? plain
    : `${plain} It must conform to this JSON schema: ${JSON.stringify(schema)}`;
}

/** A `response_format` as a sentence, for models that know no such format. */
function formatInstruction(format: JsonObject, beside: 'tools' | 'nothing'): string {
  const when = beside === 'tools' ? 'When you do not call a tool: ' : '';
  const schema =
    format['type'] === 'json_schema'
      ? objectOf(objectOf(format['json_schema'])?.['schema'])
      : undefined;
  return when + jsonInstruction(schema);
}

/** A forced `tool_choice` as a sentence, for models that cannot be forced. */
function choiceInstruction(choice: unknown): string {
  const named = objectOf(objectOf(choice)?.['function']) ?? objectOf(objectOf(choice)?.['custom']);
  const name = textOf(named?.['name']) ?? textOf(objectOf(choice)?.['name']);
  return name === undefined
    ? 'You must call at least one of your tools in your next answer.'
    : `You must call the tool "${name}" in your next answer.`;
}

/** Whether the client wants one call at a time, of tools that may be called. */
export const wantsSingleCall = (body: JsonObject): boolean =>
  body['parallel_tool_calls'] === false &&
  listOf(body['tools']).length > 0 &&
  body['tool_choice'] !== 'none';

/**
 * The sentence for a model that cannot be limited to one call at a time, where the client wants
 * that. Where one tool alone is forced, no sentence is needed: there is no other tool to call.
 */
export function singleCallInstruction(body: JsonObject): string[] {
  const choice = openaiToolChoice(body['tool_choice'], undefined);
  const isOne =
    choice === 'required'
      ? listOf(body['tools']).length === 1
      : isObject(choice) && choice['type'] !== 'allowed_tools';
  return wantsSingleCall(body) && !isOne ? ['Call at most one tool in your next answer.'] : [];
}

/**
 * Adds sentences to a conversation's instructions: to the system message with which it begins,
 * since many models take no second one, else as a new system message.
 */
function addInstructions(
  messages: unknown,
  sentences: readonly string[],
  changes: JsonChange[],
): void {
  if (sentences.length === 0) return;
  const text = sentences.join('\n');
  const first = listOf(messages)[0];
  const content = isSystem(first) ? first['content'] : undefined;
  if (typeof content === 'string')
    changes.push({
      path: ['messages', 0, 'content'],
      json: jsonText(content === '' ? text : `${content}\n\n${text}`),
    });
  else if (listOf(content).length > 0)
    changes.push({ path: ['messages', 0, 'content', 0], before: jsonText({ type: 'text', text }) });
  else changes.push({ path: ['messages', 0], before: jsonText({ role: 'system', content: text }) });
}

/**
 * Fits a request to `/v1/responses` to one model: edits of the client's bytes, and the members that
 * are left out.
 */
export function fitResponse({ body, publicModel }: VendorCall, rules: ModelRules): RequestEdits {
  const edits: RequestEdits = { changes: [], dropped: [] };
  const requested = objectOf(body['reasoning'])?.['effort'];
  const reasoning = reasons(body, rules.effort, requested);
  fitMembers(body, publicModel, rules.members, edits);
  fitMembers(body, publicModel, reasoning ? rules.whileReasoning : rules.whileSilent, edits);
  // A rule for all of `reasoning` decides about its effort, too.
  if (rules.effort !== undefined && requested !== undefined && !rules.members.top.has('reasoning'))
    fitEffort(body, ['reasoning', 'effort'], requested, rules.effort, edits);
  fitTools(body['tools'], publicModel, rules, edits);
  return edits;
}
