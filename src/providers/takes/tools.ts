import { isObject, type JsonObject, listOf, objectOf, textOf } from '../wire/json.ts';
import { note, notTaken, type Rules, type Taken } from './rules.ts';

/**
 * Fits the tools to one model. A type that is not listed is refused. A tool without a type gets the
 * type `function`. Other vendors' hints beside the function are left out.
 */
export function takeTools(tools: unknown, model: string, rules: Rules, taken: Taken): void {
  const { tools: known, refusesTools, toolsLack, untypedTools, strict } = rules;
  if (!Array.isArray(tools)) return;
  for (let i = 0; i < tools.length; i++) {
    const tool: unknown = tools[i];
    if (!isObject(tool)) continue;
    const { type } = tool;
    const called = objectOf(tool['function']);
    if (typeof type === 'string' && known !== undefined && !known.has(type))
      notTaken(
        `tools[${i}].type`,
        model,
        `it knows no tools of type '${type}'.`,
        refusesTools,
        taken,
      );
    if (
      type === undefined &&
      called !== undefined &&
      known !== undefined &&
      untypedTools === undefined
    )
      taken.changes.push({ path: ['tools', i, 'type'], json: '"function"' });
    if (toolsLack !== undefined) takeLacking(tool, i, toolsLack, taken);
    if (
      strict === 'closed' &&
      called?.['strict'] === true &&
      !isClosed(called['parameters'] ?? {})
    ) {
      taken.changes.push({ path: ['tools', i, 'function', 'strict'] });
      note('tools[].function.strict', taken);
    }
  }
}

function takeLacking(tool: JsonObject, i: number, lacks: readonly string[], taken: Taken): void {
  for (const name of lacks) {
    if (tool[name] === undefined) continue;
    taken.changes.push({ path: ['tools', i, name] });
    // A tool's own `name` repeats the function's.
    if (name !== 'name' && tool[name] !== null && tool[name] !== false)
      note(`tools[].${name}`, taken);
  }
}

/** Whether all objects of the schema take no further members, and require all that they have. */
export function isClosed(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isClosed);
  if (!isObject(schema)) return true;
  const { type, properties, required, additionalProperties } = schema;
  const needed = listOf(required);
  if ((type === 'object' || listOf(type).includes('object')) && additionalProperties !== false)
    return false;
  if (isObject(properties) && !Object.keys(properties).every((name) => needed.includes(name)))
    return false;
  if (!isClosed(schema['items']) || !isClosed(schema['anyOf'])) return false;
  return ['properties', '$defs', 'definitions'].every((name) =>
    Object.values(objectOf(schema[name]) ?? {}).every(isClosed),
  );
}

/**
 * A `tool_choice` in OpenAI's form, where it has the form of Anthropic's (`tool`), Mistral's
 * (`any`) or `/responses`'s.
 */
export function openaisChoice(choice: unknown, own: readonly string[] | undefined): unknown {
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
export function nameOf(tool: unknown): string | undefined {
  if (!isObject(tool)) return undefined;
  return textOf((objectOf(tool['function']) ?? objectOf(tool['custom']) ?? tool)['name']);
}
