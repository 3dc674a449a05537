import type { ReactNode } from 'react';
import type { ModelRow } from '../../../src/console/contract.ts';
import { formatCount } from '../../format/count.ts';
import { formatYuan } from '../../format/money.ts';
import { mostOfTokens, outputTokensFor, tokensAtMost } from '../../format/price.ts';
import { playgroundWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import type { Draft } from './composer.tsx';
import { CostBefore } from './cost-before.tsx';
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
  const inputs = panes.map(({ talk }) => inputOf(talk.turns, settings, draft));
  const parts = panes.map(({ model }, at) => mostOf(model, inputs[at] ?? 0, settings));
  if (parts.some((part) => part === undefined)) return words.byTokens;
  const total = parts.reduce<bigint>((sum, part) => sum + (part ?? 0n), 0n);
  const covered = (available: bigint): string | undefined => {
    const [pane, ...others] = panes;
    if (pane === undefined || others.length > 0) return words.covered.answers;
    const tokens = outputTokensFor(pane.model.prices, inputs[0] ?? 0, available);
    return tokens === 0 ? undefined : words.covered.tokens(formatCount(tokens));
  };
  return (
    <CostBefore
      most={total}
      text={words.atMost(formatYuan(total, 'spend'))}
      tip={words.atMostHelp}
      covered={covered}
    />
  );
}

function mostOf(model: ModelRow, input: number, settings: ChatSettings): bigint | undefined {
  const output = settings.numbers.max_tokens ?? model.output_tokens_max;
  return output === null ? undefined : mostOfTokens(model.prices, input, output);
}

/** The most tokens that the next request has as its input. */
function inputOf(before: readonly Turn[], settings: ChatSettings, draft: Draft): number {
  const turns = [...before, { role: 'user', id: 0, text: draft.text, files: [] } as const];
  const files = [
    ...before.flatMap((turn) => (turn.role === 'user' ? turn.files : [])),
    ...draft.files,
  ];
  const text = JSON.stringify([
    messagesOf(settings.system, turns.map(withoutFiles)),
    settings.tools ?? [],
  ]);
  return files.reduce((sum, file) => sum + tokensIn(file), tokensAtMost(text));
}

const withoutFiles = (turn: Turn): Turn => (turn.role === 'user' ? { ...turn, files: [] } : turn);
