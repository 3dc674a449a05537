import { type ReactNode, memo } from 'react';
import { CopyButton } from '../components/copy.tsx';
import { type CodeLanguage, Highlighted } from '../components/code-block.tsx';
import { playgroundWords, sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { revealed } from './parse.ts';

const languages: Readonly<Record<string, CodeLanguage>> = {
  bash: 'shell',
  console: 'shell',
  sh: 'shell',
  shell: 'shell',
  zsh: 'shell',
  py: 'python',
  python: 'python',
  javascript: 'typescript',
  js: 'typescript',
  jsx: 'typescript',
  ts: 'typescript',
  tsx: 'typescript',
  typescript: 'typescript',
  json: 'json',
};

/** Longer code is not coloured. */
const colouredLettersMax = 20_000;

interface FencedProps {
  readonly name: string;
  readonly text: string;
}

/** Code set apart, with a button that copies it. */
export const Fenced = memo(function Fenced({ name, text }: FencedProps): ReactNode {
  const { actions } = useWords(sharedWords);
  const { code } = useWords(playgroundWords);
  const language = text.length > colouredLettersMax ? undefined : languages[name.toLowerCase()];
  const shown = revealed(text);
  return (
    <figure dir="ltr" className="overflow-hidden rounded-control border border-line bg-sunken">
      <figcaption className="flex items-center justify-between border-b border-line py-0.5 pr-1 pl-3 text-caption text-muted">
        <bdi className="truncate">{name}</bdi>
        <CopyButton text={text} size="small" look="ghost">
          {actions.copy}
        </CopyButton>
      </figcaption>
      <pre
        className="max-h-120 overflow-auto p-3 font-mono text-caption"
        tabIndex={0}
        aria-label={name || code}
      >
        {language === undefined ? shown : <Highlighted code={shown} language={language} />}
      </pre>
    </figure>
  );
});
