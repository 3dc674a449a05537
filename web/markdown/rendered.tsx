import { clsx } from 'clsx';
import { type ReactNode, memo, useDeferredValue, useLayoutEffect, useMemo, useRef } from 'react';
import { Fenced } from './fenced.tsx';
import { drawn } from './mathematics.ts';
import { type Block, type Node, lettersMax, parse, revealed, safeAddress } from './parse.ts';
import { Plain } from './plain.tsx';
import { langOf } from './script.ts';
import { linkLook } from '../components/button.tsx';

/**
 * A model's Markdown as elements of React: no HTML of the model is read, no picture is loaded, and
 * a link opens another window that does not learn where it was opened from.
 */
export function Rendered({ text }: { readonly text: string }): ReactNode {
  const shown = useDeferredValue(text);
  const blocks = useMemo(() => parse(shown.slice(0, lettersMax)), [shown]);
  if (blocks === undefined) return <Plain text={shown} />;
  const rest = shown.slice(lettersMax);
  const levels = headingLevels(blocks);
  return (
    <div className="flex max-w-[75ch] min-w-0 flex-col gap-3 break-words">
      {blocks.map((block, at) => (
        <BlockView key={at} block={block} level={levels[at] ?? 3} />
      ))}
      {rest !== '' && <Plain text={rest} />}
    </div>
  );
}

/** Answers stand below an `h2`; a level is never left out, whatever the model wrote. */
function headingLevels(blocks: readonly Block[]): readonly number[] {
  let last = 2;
  return blocks.map(({ node }) => {
    if (node.type === 'heading') last = Math.min(Number(node.token.tag.slice(1)) + 2, last + 1, 6);
    return last;
  });
}

interface BlockViewProps {
  readonly block: Block;
  readonly level: number;
}

/** While an answer arrives, only its last part changes. */
const BlockView = memo(
  function BlockView({ block: { node, source }, level }: BlockViewProps): ReactNode {
    return (
      <div lang={langOf(source)} className="contents">
        <Part node={node} level={level} />
      </div>
    );
  },
  (before, after) =>
    before.block.source === after.block.source &&
    before.block.node.type === after.block.node.type &&
    before.level === after.level,
);

interface PartProps {
  readonly node: Node;
  readonly level: number;
}

function Part({ node, level }: PartProps): ReactNode {
  const { type, token } = node;
  const inside = node.children.map((each, at) => <Part key={at} node={each} level={level} />);
  switch (type) {
    case 'text':
      return token.content;
    case 'softbreak':
      return '\n';
    case 'hardbreak':
      return <br />;
    case 'code_inline':
      return (
        <code dir="ltr" className="rounded-badge bg-sunken px-1 font-mono text-[0.92em]">
          {revealed(token.content)}
        </code>
      );
    case 'formula':
      return <Formula tex={token.content} display={token.markup !== ''} asText={token.hidden} />;
    case 'image':
      return <Reference address={token.attrGet('src')}>{token.content || '▣'}</Reference>;
    case 'link':
      return <Reference address={token.attrGet('href')}>{inside}</Reference>;
    case 'fence':
    case 'code_block':
      return <Fenced name={token.info.trim().split(/\s/)[0] ?? ''} text={ended(token.content)} />;
    case 'heading':
      return <Heading level={level}>{inside}</Heading>;
    case 'paragraph':
      return token.hidden ? inside : <p dir="auto">{inside}</p>;
    default:
      return <Simple node={node}>{inside}</Simple>;
  }
}

/** Elements that only hold others. */
function Simple({
  node: { type, token },
  children,
}: {
  readonly node: Node;
  readonly children: ReactNode;
}): ReactNode {
  switch (type) {
    case 'em':
      return <em>{children}</em>;
    case 'strong':
      return <strong className="font-semibold">{children}</strong>;
    case 's':
      return <s>{children}</s>;
    case 'bullet_list':
      return <ul className="flex list-disc flex-col gap-1 ps-5">{children}</ul>;
    case 'ordered_list':
      return (
        <ol
          className="flex list-decimal flex-col gap-1 ps-6"
          start={Number(token.attrGet('start') ?? 1)}
        >
          {children}
        </ol>
      );
    case 'list_item':
      return (
        <li dir="auto" className="[&>*+*]:mt-1">
          {children}
        </li>
      );
    case 'blockquote':
      return (
        <blockquote className="flex flex-col gap-2 border-s-2 border-edge ps-3 text-muted">
          {children}
        </blockquote>
      );
    case 'hr':
      return <hr className="border-line" />;
    case 'table':
      return (
        <div className="overflow-x-auto" tabIndex={0}>
          <table className="border-collapse text-table">{children}</table>
        </div>
      );
    case 'thead':
      return <thead className="bg-sunken">{children}</thead>;
    case 'tbody':
      return <tbody>{children}</tbody>;
    case 'tr':
      return <tr className="border-b border-line">{children}</tr>;
    case 'th':
      return <th className={clsx('px-2 py-1 font-medium', sideOf(token))}>{children}</th>;
    case 'td':
      return <td className={clsx('px-2 py-1 align-top', sideOf(token))}>{children}</td>;
    default:
      return children;
  }
}

const sideOf = (token: Node['token']): string => {
  const style = String(token.attrGet('style'));
  return style.endsWith('right')
    ? 'text-right'
    : style.endsWith('center')
      ? 'text-center'
      : 'text-start';
};

/** Without the line end that closes every piece of code. */
const ended = (code: string): string => code.replace(/\n$/, '');

function Heading({
  level,
  children,
}: {
  readonly level: number;
  readonly children: ReactNode;
}): ReactNode {
  const Tag = headings[level - 3] ?? 'h6';
  return (
    <Tag dir="auto" className={clsx('font-semibold', level === 3 && 'text-card')}>
      {children}
    </Tag>
  );
}

const headings = ['h3', 'h4', 'h5', 'h6'] as const;

interface ReferenceProps {
  readonly address: string | number | null;
  readonly children: ReactNode;
}

/** A link, or a picture as one. What a model names may be anything: its address is shown. */
function Reference({ address, children }: ReferenceProps): ReactNode {
  const href = safeAddress(address);
  if (href === undefined) return <bdi>{children}</bdi>;
  return (
    <a
      href={href}
      title={href}
      target="_blank"
      rel="noopener noreferrer nofollow"
      className={linkLook}
    >
      <bdi>{children}</bdi>
    </a>
  );
}

interface FormulaProps {
  readonly tex: string;
  readonly display: boolean;
  readonly asText: boolean;
}

/** A formula; as its source where it cannot be drawn. */
function Formula({ tex, display, asText }: FormulaProps): ReactNode {
  const math = useMemo(() => (asText ? undefined : drawn(tex, display)), [tex, display, asText]);
  const box = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (math !== undefined) box.current?.replaceChildren(math);
  }, [math]);
  if (math === undefined)
    return (
      <code dir="ltr" className="rounded-badge bg-sunken px-1 font-mono text-[0.92em]">
        {tex}
      </code>
    );
  return (
    <span
      ref={box}
      dir="ltr"
      tabIndex={display ? 0 : undefined}
      className={
        display
          ? 'block max-w-full overflow-x-auto overflow-y-hidden py-1'
          : 'inline-block max-w-full overflow-clip align-baseline [overflow-clip-margin:4px]'
      }
    />
  );
}
