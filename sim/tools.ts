import { lastMessage, lastPrompt, type ChatRequest, type Tool } from './request.ts';
import { instanceOf } from './schema.ts';
import { scriptOf } from './script.ts';

export interface PlannedCall {
  readonly name: string;
  readonly arguments: string;
}

/** Words in tools' names that say nothing about the tool. */
const plainVerbs =
  /^(?:get|set|run|add|the|for|find|call|make|list|show|tool|look|fetch|lookup|query|search|create|update|current|function|calculate)$/;

/**
 * The calls that the model makes: those that `tool_choice` demands, else the tools that the prompt
 * names, or whose name shares a specific word with it (`get_weather`: weather). Several named
 * tools, or one requested twice, make parallel calls.
 */
export function plannedCalls(request: ChatRequest): PlannedCall[] {
  const choice = request.toolChoice;
  if (choice.mode === 'none' || request.tools.length === 0) return [];
  const script = scriptOf(request);
  if (script !== undefined) return [...script.calls];
  if (choice.mode === 'auto' && lastMessage(request)?.role !== 'user') return [];
  const { mode, named } =
    choice.mode === 'auto' ? toolDemands(request) : { mode: choice.mode, named: choice.named };
  const prompt = lastPrompt(request);
  const wanted =
    named === undefined
      ? chosen(request.tools, prompt, mode)
      : request.tools.filter((tool) => tool.name === named);
  const first = wanted[0];
  if (first === undefined) return [];
  if (!request.parallelToolCalls) return filled([first], prompt);
  const twice = wanted.length === 1 && /\b(?:both|two|twice)\b|两次|分别/i.test(prompt);
  return filled(twice ? [first, first] : wanted, prompt);
}

/** Calls that a text demands: a system message, or the description of a tool. */
function toolDemands({ messages, tools }: ChatRequest): {
  readonly mode: 'auto' | 'required';
  readonly named: string | undefined;
} {
  const system = messages.map(({ role, text }) => (role === 'system' ? text : '')).join('\n');
  const named = /\bmust call the tool ["“]([^"”]+)/i.exec(system)?.[1];
  if (named !== undefined) return { mode: 'required', named };
  const wanting = tools.filter(({ description }) => /\bmust be called\b/i.test(description));
  if (wanting.length === 1 && tools.length > 1)
    return { mode: 'required', named: wanting[0]?.name };
  const some = wanting.length > 0 || /\bmust call (?:at least )?one of your tools\b/i.test(system);
  return { mode: some ? 'required' : 'auto', named: undefined };
}

function chosen(
  tools: readonly Tool[],
  prompt: string,
  mode: 'auto' | 'required',
): readonly Tool[] {
  const lower = prompt.toLowerCase();
  const mentioned = tools.filter((tool) => lower.includes(tool.name.toLowerCase()));
  if (mentioned.length > 0) return mentioned;
  const related = tools.filter((tool) =>
    specificWords(tool.name).some((word) => lower.includes(word)),
  );
  return related.length > 0 || mode === 'auto' ? related : tools.slice(0, 1);
}

function specificWords(name: string): string[] {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_-]/);
  return words.filter((word) => word.length >= 3 && !plainVerbs.test(word));
}

/** A call does not reuse words of the call before it: «Paris and Rome» makes one call for each. */
function filled(tools: readonly Tool[], prompt: string): PlannedCall[] {
  let left = prompt;
  return tools.map((tool) => {
    const instance = instanceOf(tool.schema, left);
    const json = JSON.stringify(instance);
    if (tools[0] === tool)
      for (const value of Object.values(Object(instance))) left = left.replace(String(value), ' ');
    return { name: tool.name, arguments: json };
  });
}
