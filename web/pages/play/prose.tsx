import { type ReactNode, memo } from 'react';
import { CopyButton } from '../../components/copy.tsx';
import { sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';

interface Piece {
  readonly code: boolean;
  readonly name: string;
  readonly text: string;
}

/**
 * Plain text with fenced code set apart. No HTML, no links, no images: nothing that a model writes
 * takes effect.
 */
export function Prose({ text }: { readonly text: string }): ReactNode {
  return pieces(text).map((piece, index) =>
    piece.code ? (
      <Fenced key={index} name={piece.name} text={piece.text} />
    ) : (
      <Paragraph key={index} text={piece.text} />
    ),
  );
}

/** Splits text at code fences; an open fence runs to the end. */
export function pieces(text: string): readonly Piece[] {
  const found: Piece[] = [];
  const fence = /^(`{3,}|~{3,})([^\n`]*)\n([\s\S]*?)(?:\n\1[ \t]*(?:\n|$)|$(?![\s\S]))/gm;
  let end = 0;
  for (const match of text.matchAll(fence)) {
    const before = text.slice(end, match.index).trim();
    if (before !== '') found.push({ code: false, name: '', text: before });
    found.push({ code: true, name: match[2]?.trim() ?? '', text: match[3] ?? '' });
    end = match.index + match[0].length;
  }
  const rest = text.slice(end).trim();
  if (rest !== '') found.push({ code: false, name: '', text: rest });
  return found;
}

const Paragraph = memo(function Paragraph({ text }: { readonly text: string }): ReactNode {
  return <p className="max-w-[75ch] break-words whitespace-pre-wrap">{text}</p>;
});

const Fenced = memo(function Fenced({
  name,
  text,
}: {
  readonly name: string;
  readonly text: string;
}): ReactNode {
  const { actions } = useWords(sharedWords);
  return (
    <figure className="overflow-hidden rounded-control border border-line bg-sunken">
      <figcaption className="flex items-center justify-between border-b border-line py-0.5 pr-1 pl-3 text-caption text-muted">
        <span>{name}</span>
        <CopyButton text={text} size="small" look="ghost">
          {actions.copy}
        </CopyButton>
      </figcaption>
      <pre className="overflow-x-auto p-3 font-mono text-caption" tabIndex={0} aria-label={name}>
        {text}
      </pre>
    </figure>
  );
});
