import { type Change, jsonText } from '../../base/json-edit.ts';
import type { Call } from '../adapter.ts';
import { type Traits, traitsOf } from './anthropic-messages-models.ts';
import { thinkingFor, unthought } from './anthropic-messages-thinking.ts';
import { obligation } from './anthropic-messages-tools.ts';
import { messagesVersionHeader } from './messages-headers.ts';
import { countOf, type JsonObject, listOf, objectOf, textOf } from './json.ts';

/**
 * From this version of the format on `temperature`, `top_p` and `top_k` are refused, whatever they
 * say (platform.claude.com/docs/en/api/versioning, 2026-11).
 */
const versionUnsampled = '2026-10-21';

/**
 * What a request says that another generation of Claude took and this one refuses, said in its way,
 * so that changing the model is enough: thinking, sampling and forced calls (wire-formats §4.2,
 * §0.10). Nothing changes in a request that fits.
 */
export function fitting({ body, upstreamModel, outputTokensMax, clientHeaders }: Call): {
  readonly changes: Change[];
  readonly dropped: string[];
} {
  const traits = traitsOf(upstreamModel);
  const { on, changes, dropped } = fittingThinking(body, traits, outputTokensMax);
  const unsampled = String(clientHeaders?.[messagesVersionHeader] ?? '') >= versionUnsampled;
  const sampling = unsampled ? samplingIn(body) : fittingSampling(body, traits, on);
  return {
    changes: [
      ...changes,
      ...sampling.map((name) => ({ path: [name] })),
      ...fittingChoice(body, traits),
      ...fittingEnd(body['messages'], traits),
    ],
    // 1 is what happens anyway.
    dropped: [...dropped, ...sampling.filter((name) => name === 'top_k' || body[name] !== 1)],
  };
}

/**
 * An answer that this model does not go on with is followed by a request to do so. Turns that the
 * vendor has paused and calls that wait for their results stay last.
 */
function fittingEnd(messages: unknown, { prefill }: Traits): Change[] {
  const last = listOf(messages).length - 1;
  const message = objectOf(listOf(messages)[last]);
  if (prefill || message?.['role'] !== 'assistant') return [];
  const { content } = message;
  const isText =
    typeof content === 'string' ||
    listOf(content).every((block) => objectOf(block)?.['type'] === 'text');
  return isText
    ? [{ path: ['messages', last], after: jsonText({ role: 'user', content: 'Continue.' }) }]
    : [];
}

const forced = (body: JsonObject): boolean =>
  ['any', 'tool'].includes(String(objectOf(body['tool_choice'])?.['type']));

/**
 * Whether a model of these traits takes `thinking` of this type as it is. A budget has to stay
 * below a limit that is tighter than the client's.
 */
function takes(
  asked: JsonObject | undefined,
  { thinking, silent, rest }: Traits,
  limit: number | undefined,
): boolean {
  const type = asked?.['type'];
  if (type === 'enabled')
    return (
      thinking !== 'none' && !silent && !(Number(asked?.['budget_tokens']) >= (limit ?? Infinity))
    );
  if (type === 'adaptive') return thinking === 'adaptive';
  return type !== 'disabled' || rest === 'disabled';
}

function fittingThinking(
  body: JsonObject,
  traits: Traits,
  outputTokensMax: number | undefined,
): { readonly on: boolean; readonly changes: Change[]; readonly dropped: readonly string[] } {
  const asked = objectOf(body['thinking']);
  const type = asked?.['type'];
  if (takes(asked, traits, outputTokensMax))
    return { on: type === 'enabled' || type === 'adaptive', changes: [], dropped: [] };
  const limit = outputTokensMax ?? countOf(body['max_tokens']) ?? traits.outputUsual;
  const { thinking, effort, on } = thinkingFor({ body }, traits, limit, {
    forced: forced(body) && traits.forcing,
    interrupted: false,
  });
  const display = textOf(asked?.['display']);
  const changes: Change[] = [
    thinking
      ? { path: ['thinking'], json: jsonText(display && on ? { ...thinking, display } : thinking) }
      : { path: ['thinking'] },
  ];
  const config = objectOf(body['output_config']);
  if (effort !== undefined && config?.['effort'] === undefined)
    changes.push({ path: ['output_config'], json: jsonText({ ...config, effort }) });
  return { on, changes, dropped: unthought({ body }, on || effort !== undefined) };
}

const samplingIn = (body: JsonObject): string[] =>
  ['temperature', 'top_p', 'top_k'].filter((name) => body[name] !== undefined);

/** The members that tune and are refused. */
function fittingSampling(body: JsonObject, { sampling }: Traits, thinks: boolean): string[] {
  const given = samplingIn(body);
  // While it thinks, a model takes `top_p` from 0.95 on
  // (platform.claude.com/docs/en/build-with-claude/extended-thinking, 2026-11; recorded).
  const takesTop = sampling !== 'none' && Number(body['top_p']) >= 0.95;
  const taken = (name: string): boolean =>
    name !== 'top_k' && (body[name] === 1 || (name === 'top_p' && takesTop));
  const refused = sampling === 'none' || thinks ? given.filter((name) => !taken(name)) : [];
  const second =
    sampling === 'one' && given.includes('temperature') && given.includes('top_p') ? ['top_p'] : [];
  return [...new Set([...refused, ...second])];
}

/** A call that cannot be forced is asked for in words. */
function fittingChoice(body: JsonObject, { forcing }: Traits): Change[] {
  if (forcing || !forced(body)) return [];
  const choice = objectOf(body['tool_choice']) ?? {};
  const single = choice['disable_parallel_tool_use'];
  const told = obligation(
    choice['type'] === 'tool' ? { name: textOf(choice['name']) ?? '' } : 'required',
  );
  const system = body['system'];
  const before = typeof system === 'string' ? [{ type: 'text', text: system }] : listOf(system);
  return [
    {
      path: ['tool_choice'],
      json: jsonText({
        type: 'auto',
        ...(single === undefined ? {} : { disable_parallel_tool_use: single }),
      }),
    },
    { path: ['system'], json: jsonText([...before, { type: 'text', text: told }]) },
  ];
}
