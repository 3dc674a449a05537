import { type ReactNode, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Textarea } from '../../components/field.tsx';
import { Icon } from '../../components/icon.tsx';
import { playgroundWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import type { ToolCall } from './turns.ts';

interface ToolCardProps {
  readonly call: ToolCall;
  readonly result: string | undefined;
  readonly canAnswer: boolean;
  readonly onResult: (text: string) => void;
}

/** A tool call of the model, and a field for its result. */
export function ToolCard({ call, result, canAnswer, onResult }: ToolCardProps): ReactNode {
  const { chat } = useWords(playgroundWords);
  const [text, setText] = useState('');
  return (
    <article
      aria-label={`${chat.tool} ${call.name}`}
      className="rounded-control border border-line"
    >
      <header className="flex items-center gap-2 border-b border-line px-3 py-1.5 text-table">
        <Icon name="settings" className="text-muted" />
        <span className="text-muted">{chat.tool}</span>
        <span className="min-w-0 truncate font-mono font-medium">{call.name}</span>
      </header>
      <div className="flex flex-col gap-2 p-3">
        <p className="text-caption text-muted">{chat.arguments}</p>
        <pre
          className="max-h-60 overflow-auto font-mono text-caption break-words whitespace-pre-wrap"
          tabIndex={0}
          aria-label={chat.arguments}
        >
          {pretty(call.arguments)}
        </pre>
        {result !== undefined && (
          <>
            <p className="text-caption text-muted">{chat.givenResult}</p>
            <pre
              className="max-h-60 overflow-auto font-mono text-caption break-words whitespace-pre-wrap"
              tabIndex={0}
              aria-label={chat.givenResult}
            >
              {result}
            </pre>
          </>
        )}
        {result === undefined && canAnswer && (
          <>
            <Textarea
              rows={2}
              aria-label={`${chat.result} ${call.name}`}
              placeholder={chat.resultPlaceholder}
              value={text}
              onChange={(event) => setText(event.target.value)}
              className="font-mono text-caption"
            />
            <Button size="small" className="self-end" onClick={() => onResult(text)}>
              {chat.giveResult}
            </Button>
          </>
        )}
      </div>
    </article>
  );
}

/** Formats arguments that are complete JSON. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
