import { Fragment, type ReactNode } from 'react';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { CopyButton } from './copy.tsx';

export type CodeLanguage = 'shell' | 'python' | 'typescript' | 'json';

interface CodeBlockProps {
  readonly code: string;
  readonly language: CodeLanguage;
  /** Its name for screen readers. */
  readonly label: string;
}

/** A sample that can be copied as it stands; long lines wrap. */
export function CodeBlock({ code, language, label }: CodeBlockProps): ReactNode {
  const words = useWords(sharedWords);
  return (
    <figure className="overflow-hidden rounded-control border border-line bg-sunken">
      <figcaption className="flex items-center justify-between gap-2 border-b border-line py-0.5 pr-1 pl-3 text-caption text-muted">
        <span className="truncate">{label}</span>
        <CopyButton text={code} size="small" look="ghost">
          {words.actions.copy}
        </CopyButton>
      </figcaption>
      <pre
        className="max-h-120 overflow-auto p-3 font-mono text-caption break-words whitespace-pre-wrap"
        tabIndex={0}
        aria-label={label}
      >
        <Highlighted code={code} language={language} />
      </pre>
    </figure>
  );
}

/** Code in the colours of its language. */
export function Highlighted({
  code,
  language,
}: Pick<CodeBlockProps, 'code' | 'language'>): ReactNode {
  return (
    <code>
      {tokens(code, language).map(({ text, kind }, index) =>
        kind === undefined ? (
          <Fragment key={index}>{text}</Fragment>
        ) : (
          <span key={index} className={looks[kind]}>
            {text}
          </span>
        ),
      )}
    </code>
  );
}

type Kind = 'comment' | 'string' | 'number' | 'keyword';

const looks: Readonly<Record<Kind, string>> = {
  comment: 'text-muted italic',
  string: 'text-good',
  number: 'text-warn',
  keyword: 'text-accent',
};

const keywords: Readonly<Record<CodeLanguage, string>> = {
  shell: 'curl|export|echo|npm|pip',
  python:
    'from|import|for|in|if|else|elif|def|return|while|with|as|print|None|True|False|and|or|not|not',
  typescript:
    'import|from|const|let|for|of|await|async|if|else|while|new|return|function|true|false|null|undefined',
  json: 'true|false|null',
};

export interface Token {
  readonly text: string;
  readonly kind: Kind | undefined;
}

/**
 * Splits code into strings, comments, numbers and keywords; joined, the texts are the code again.
 */
export function tokens(code: string, language: CodeLanguage): Token[] {
  const comment =
    language === 'typescript' ? '//[^\\n]*' : language === 'json' ? '(?!)' : '#[^\\n]*';
  const pattern = new RegExp(
    `(?<comment>${comment})|(?<string>"(?:\\\\.|[^"\\\\])*"|'(?:\\\\.|[^'\\\\])*'|\`(?:\\\\.|[^\`\\\\])*\`)|(?<number>\\b\\d[\\d._]*\\b)|(?<keyword>\\b(?:${keywords[language]})\\b)`,
    'g',
  );
  const found: Token[] = [];
  let end = 0;
  for (const match of code.matchAll(pattern)) {
    if (match.index > end) found.push({ text: code.slice(end, match.index), kind: undefined });
    found.push({ text: match[0], kind: kindOf(match.groups ?? {}) });
    end = match.index + match[0].length;
  }
  if (end < code.length) found.push({ text: code.slice(end), kind: undefined });
  return found;
}

function kindOf(groups: Readonly<Record<string, string | undefined>>): Kind | undefined {
  const kinds: readonly Kind[] = ['comment', 'string', 'number', 'keyword'];
  return kinds.find((kind) => groups[kind] !== undefined);
}
