import type { ReactNode } from 'react';
import type { ModelRow } from '../../../src/console/contract.ts';
import { formatYuan } from '../../format/money.ts';
import { mostOfTokens, tokensAtMost } from '../../format/price.ts';
import { playgroundWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import type { Draft } from './composer.tsx';
import type { Pane } from './panes.ts';
import { type ChatSettings, type SentFile, type Turn, base64Of, messagesOf } from './turns.ts';

interface MostProps {
  readonly panes: readonly Pane[];
  readonly settings: ChatSettings;
  readonly draft: Draft;
}

/** Upper bounds: what a vendor makes of one image (high detail), and of a byte of other files. */
const tokensOfImage = 6500;
const tokensOfByte = 1;

const tokensIn = ({ type, url }: SentFile): number =>
  type === '' || type.startsWith('image/')
    ? tokensOfImage
    : Math.ceil(base64Of(url).length * 0.75 * tokensOfByte);

/** The highest cost of the next answer, all models together. */
export function Most({ panes, settings, draft }: MostProps): ReactNode {
  const words = useWords(playgroundWords);
  const parts = panes.map(({ model, talk }) => mostOf(model, talk.turns, settings, draft));
  if (parts.some((part) => part === undefined)) return words.byTokens;
  const total = parts.reduce<bigint>((sum, part) => sum + (part ?? 0n), 0n);
  return <span data-tip={words.atMostHelp}>{words.atMost(formatYuan(total, 'spend'))}</span>;
}

function mostOf(
  model: ModelRow,
  before: readonly Turn[],
  settings: ChatSettings,
  draft: Draft,
): bigint | undefined {
  const turns = [...before, { role: 'user', id: 0, text: draft.text, files: [] } as const];
  const files = [
    ...before.flatMap((turn) => (turn.role === 'user' ? turn.files : [])),
    ...draft.files,
  ];
  const inFiles = files.reduce((sum, file) => sum + tokensIn(file), 0);
  const text = JSON.stringify([
    messagesOf(settings.system, turns.map(withoutFiles)),
    settings.tools ?? [],
  ]);
  const output = settings.numbers.max_tokens ?? model.output_tokens_max;
  return output === null
    ? undefined
    : mostOfTokens(model.prices, tokensAtMost(text) + inFiles, output);
}

const withoutFiles = (turn: Turn): Turn => (turn.role === 'user' ? { ...turn, files: [] } : turn);
