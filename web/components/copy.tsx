import { clsx } from 'clsx';
import { type ReactNode, useEffect, useState } from 'react';
import { announce } from '../browser/announce.ts';
import { copyText } from '../browser/clipboard.ts';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

const shownMs = 1600;

/** Copies a text and announces it; `copied` is true while a tick should show. */
export function useCopy(text: string): {
  readonly copied: boolean;
  readonly copy: () => Promise<void>;
} {
  const words = useWords(sharedWords);
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), shownMs);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    if (!(await copyText(text))) return;
    setCopied(true);
    announce(words.actions.copied);
  };
  return { copied, copy };
}

interface CopyTextProps {
  readonly text: string;
  /** The text that is shown, when it is not all of it. */
  readonly shown?: string;
  /** Its name: `Request id`. */
  readonly label: string;
  readonly className?: string;
}

/**
 * An id, key or order number: whole where there is room, else shortened in the middle. A press
 * copies all of it.
 */
export function CopyText({ text, shown = text, label, className }: CopyTextProps): ReactNode {
  const words = useWords(sharedWords);
  const { copied, copy } = useCopy(text);
  return (
    <button
      type="button"
      aria-label={`${words.actions.copy}: ${label} ${text}`}
      data-tip={copied ? words.actions.copied : text}
      onClick={() => void copy()}
      className={clsx(
        'group inline-flex min-h-6 max-w-full min-w-0 items-center gap-1 rounded-badge font-mono text-caption text-muted hover:text-text',
        className,
      )}
    >
      <MiddleCut text={shown} />
      <Icon
        name={copied ? 'check' : 'copy'}
        className={clsx('size-3.5', copied ? 'text-good' : 'opacity-60 group-hover:opacity-100')}
      />
    </button>
  );
}

interface CopyButtonProps {
  readonly text: string;
  readonly children: ReactNode;
  readonly look?: 'primary' | 'secondary' | 'ghost';
  readonly size?: 'small' | 'normal';
  readonly onCopied?: () => void;
}

export function CopyButton({
  text,
  children,
  look = 'secondary',
  size = 'normal',
  onCopied,
}: CopyButtonProps): ReactNode {
  const words = useWords(sharedWords);
  const { copied, copy } = useCopy(text);
  return (
    <Button
      look={look}
      size={size}
      icon={copied ? 'check' : 'copy'}
      onClick={() => void copy().then(onCopied)}
    >
      {copied ? words.actions.copied : children}
    </Button>
  );
}

const tailLetters = 6;
/** Of a letter, below the end: some fonts have dots that are no whole number of letters wide. */
const spare = 0.25;
/** As many whole letters as there is room for beside the end. */
const roomForBegin = `calc(round(down, 100% + 0.1ch, 1ch) - ${tailLetters - spare}ch)`;

/**
 * A long id without its middle: ids differ at their ends. The letters are equally wide, and the end
 * follows the dots without a gap.
 */
function MiddleCut({ text }: { readonly text: string }): ReactNode {
  if (text.length <= tailLetters * 2) return <span className="truncate">{text}</span>;
  const width = `${text.length - tailLetters + spare}ch`;
  return (
    <span className="flex min-w-0">
      <span className="truncate" style={{ width, maxWidth: roomForBegin }}>
        {text.slice(0, -tailLetters)}
      </span>
      <span className="shrink-0" style={{ marginLeft: `-${spare}ch` }}>
        {text.slice(-tailLetters)}
      </span>
    </span>
  );
}
