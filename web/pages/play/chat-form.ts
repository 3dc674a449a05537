import type { ModelRow } from '../../../src/console/contract.ts';
import type { Range } from './slider-field.tsx';
import { type ChatSettings, type NumberName, numberNames } from './turns.ts';

export const efforts = ['none', 'minimal', 'low', 'medium', 'high'] as const;

/** The settings as typed; empty: not sent. */
export interface ChatForm {
  readonly system: string;
  readonly numbers: Readonly<Record<NumberName, string>>;
  readonly effort: string;
  readonly tools: string;
}

export const emptyForm: ChatForm = {
  system: '',
  numbers: {
    temperature: '',
    top_p: '',
    max_tokens: '',
    frequency_penalty: '',
    presence_penalty: '',
    seed: '',
  },
  effort: '',
  tools: '',
};

/** What each number may be. The longest answer is the model's own. */
export function rangeOf(name: NumberName, model: Pick<ModelRow, 'output_tokens_max'>): Range {
  switch (name) {
    case 'temperature':
      return { least: 0, most: 2, step: 0.1, rest: 1 };
    case 'top_p':
      return { least: 0, most: 1, step: 0.05, rest: 1 };
    case 'max_tokens': {
      const most = model.output_tokens_max ?? 1_000_000;
      return { least: 1, most, step: 1, rest: most };
    }
    case 'seed':
      return { least: 0, most: 2 ** 31 - 1, step: 1, rest: 0 };
    default:
      return { least: -2, most: 2, step: 0.1, rest: 0 };
  }
}

/** The number; undefined for an empty field, null for an invalid value. */
export function numberOf(typed: string, { least, most, step }: Range): number | undefined | null {
  const text = typed.trim().replace(',', '.');
  if (text === '') return undefined;
  const value = Number(text);
  return value >= least && value <= most && (step < 1 || Number.isInteger(value)) ? value : null;
}

export type ToolsProblem =
  | { readonly kind: 'json'; readonly why: string }
  | { readonly kind: 'list' }
  | { readonly kind: 'function'; readonly at: number };

/** The tools as the API takes them, or the error in them. */
export function readTools(
  text: string,
): { readonly tools: readonly object[] | undefined } | { readonly problem: ToolsProblem } {
  if (text.trim() === '') return { tools: undefined };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: { kind: 'json', why: error instanceof Error ? error.message : '' } };
  }
  if (!Array.isArray(value)) return { problem: { kind: 'list' } };
  const bad = value.findIndex(
    (tool: { function?: { name?: unknown } } | null) => typeof tool?.function?.name !== 'string',
  );
  return bad === -1 ? { tools: value } : { problem: { kind: 'function', at: bad + 1 } };
}

/** The settings of the form; undefined while one of them is invalid. */
export function settingsOf(
  form: ChatForm,
  model: Pick<ModelRow, 'output_tokens_max' | 'reasoning'>,
): ChatSettings | undefined {
  const read = readTools(form.tools);
  const numbers = numberNames.map(
    (name) => [name, numberOf(form.numbers[name], rangeOf(name, model))] as const,
  );
  if ('problem' in read || numbers.some(([, value]) => value === null)) return undefined;
  const sent = numbers.flatMap(([name, value]) => (value == null ? [] : [[name, value] as const]));
  return {
    system: form.system,
    numbers: Object.fromEntries(sent),
    effort: model.reasoning && form.effort !== '' ? form.effort : undefined,
    tools: read.tools,
  };
}
