import { type ReactNode, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Field, TextInput, Textarea } from '../../components/field.tsx';
import { playgroundWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { More } from './layout.tsx';
import type { ChatSettings } from './turns.ts';

/** The settings as typed. */
export interface ChatForm {
  readonly system: string;
  readonly temperature: string;
  readonly topP: string;
  readonly maxTokens: string;
  readonly tools: string;
}

export const emptyForm: ChatForm = {
  system: '',
  temperature: '',
  topP: '',
  maxTokens: '',
  tools: '',
};

const limits = { temperature: [0, 2], topP: [0, 1], maxTokens: [1, 1_000_000] } as const;
type Numbered = keyof typeof limits;

/** The number; undefined for an empty field, null for an invalid value. */
function numberOf(form: ChatForm, name: Numbered): number | undefined | null {
  const typed = form[name].trim().replace(',', '.');
  const [least, most] = limits[name];
  const value = Number(typed);
  if (typed === '') return undefined;
  return value >= least && value <= most && (name !== 'maxTokens' || Number.isInteger(value))
    ? value
    : null;
}

type ToolsProblem =
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
export function settingsOf(form: ChatForm): ChatSettings | undefined {
  const [temperature, topP, maxTokens] = [
    numberOf(form, 'temperature'),
    numberOf(form, 'topP'),
    numberOf(form, 'maxTokens'),
  ];
  const read = readTools(form.tools);
  if (temperature === null || topP === null || maxTokens === null || 'problem' in read)
    return undefined;
  return { system: form.system, temperature, topP, maxTokens, tools: read.tools };
}

const example = JSON.stringify(
  [
    {
      type: 'function',
      function: {
        name: 'get_weather',
        description: 'The weather in a city',
        parameters: {
          type: 'object',
          properties: { city: { type: 'string' } },
          required: ['city'],
        },
      },
    },
  ],
  undefined,
  2,
);

interface ChatSettingsProps {
  readonly form: ChatForm;
  readonly onChange: (change: Partial<ChatForm>) => void;
}

export function ChatSettingsFields({ form, onChange }: ChatSettingsProps): ReactNode {
  const words = useWords(playgroundWords);
  const { chat } = words;
  const labels: Readonly<Record<Numbered, string>> = {
    temperature: chat.temperature,
    topP: chat.topP,
    maxTokens: chat.maxTokens,
  };
  const numbered = (name: Numbered) => (
    <Field
      key={name}
      label={labels[name]}
      error={
        numberOf(form, name) === null
          ? chat.between(String(limits[name][0]), String(limits[name][1]))
          : undefined
      }
    >
      {(tied) => (
        <TextInput
          {...tied}
          inputMode="decimal"
          placeholder={chat.usual}
          value={form[name]}
          onChange={(event) => onChange({ [name]: event.target.value })}
        />
      )}
    </Field>
  );
  return (
    <More>
      <Field label={chat.system}>
        {(tied) => (
          <Textarea
            {...tied}
            rows={3}
            placeholder={chat.systemPlaceholder}
            value={form.system}
            onChange={(event) => onChange({ system: event.target.value })}
          />
        )}
      </Field>
      {numbered('temperature')}
      {numbered('topP')}
      {numbered('maxTokens')}
      <ToolsField text={form.tools} onChange={(tools) => onChange({ tools })} />
    </More>
  );
}

function ToolsField({
  text,
  onChange,
}: {
  readonly text: string;
  readonly onChange: (text: string) => void;
}): ReactNode {
  const { chat } = useWords(playgroundWords);
  const [left, setLeft] = useState(false);
  const read = readTools(text);
  return (
    <Field
      label={chat.tools}
      help={chat.toolsHelp}
      error={'problem' in read && left ? problemText(read.problem, chat.toolsBad) : undefined}
    >
      {(tied) => (
        <>
          <Textarea
            {...tied}
            rows={text === '' ? 2 : 8}
            spellCheck={false}
            className="font-mono text-caption"
            value={text}
            onChange={(event) => onChange(event.target.value)}
            onBlur={() => setLeft(true)}
            onFocus={() => setLeft(false)}
          />
          {text === '' && (
            <Button size="small" className="self-start" onClick={() => onChange(example)}>
              {chat.toolsExample}
            </Button>
          )}
        </>
      )}
    </Field>
  );
}

interface BadWords {
  readonly json: (why: string) => string;
  readonly list: string;
  readonly function: (at: number) => string;
}

function problemText(problem: ToolsProblem, words: BadWords): string {
  if (problem.kind === 'json') return words.json(problem.why);
  return problem.kind === 'list' ? words.list : words.function(problem.at);
}
