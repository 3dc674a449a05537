import { type ReactNode, useState } from 'react';
import type { ModelRow } from '../../../src/console/contract.ts';
import { Button } from '../../components/button.tsx';
import { ChoiceField } from '../../components/choice.tsx';
import { Field, TextInput, Textarea } from '../../components/field.tsx';
import { playgroundWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import {
  type ChatForm,
  type ToolsProblem,
  efforts,
  numberOf,
  rangeOf,
  readTools,
} from './chat-form.ts';
import { More } from './layout.tsx';
import { SliderField } from './slider-field.tsx';
import { type NumberName, numberNames } from './turns.ts';

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
  /** Of the models that are asked. */
  readonly limits: Pick<ModelRow, 'output_tokens_max' | 'reasoning'>;
  readonly onChange: (change: Partial<ChatForm>) => void;
}

export function ChatSettingsFields({ form, limits, onChange }: ChatSettingsProps): ReactNode {
  const { chat } = useWords(playgroundWords);
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
      {numberNames.map((name) => (
        <NumberField key={name} name={name} form={form} limits={limits} onChange={onChange} />
      ))}
      {limits.reasoning && (
        <ChoiceField
          label={chat.effort}
          value={form.effort}
          options={[
            ['', chat.notSent],
            ...efforts.map((effort) => [effort, chat.efforts[effort]] as const),
          ]}
          onChange={(effort) => onChange({ effort })}
        />
      )}
      <ToolsField text={form.tools} onChange={(tools) => onChange({ tools })} />
    </More>
  );
}

interface NumberFieldProps extends ChatSettingsProps {
  readonly name: NumberName;
}

function NumberField({ name, form, limits, onChange }: NumberFieldProps): ReactNode {
  const { chat } = useWords(playgroundWords);
  const range = rangeOf(name, limits);
  const value = form.numbers[name];
  const change = (next: string) => onChange({ numbers: { ...form.numbers, [name]: next } });
  const error =
    numberOf(value, range) === null
      ? (range.step < 1 ? chat.between : chat.betweenWhole)(String(range.least), String(range.most))
      : undefined;
  if (name !== 'seed')
    return (
      <SliderField
        label={chat.numbers[name]}
        range={range}
        value={value}
        error={error}
        onChange={change}
      />
    );
  return (
    <Field label={chat.numbers.seed} error={error}>
      {(tied) => (
        <TextInput
          {...tied}
          inputMode="numeric"
          placeholder={chat.notSent}
          value={value}
          onChange={(event) => change(event.target.value)}
        />
      )}
    </Field>
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
