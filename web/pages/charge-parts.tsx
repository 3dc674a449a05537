import type { ReactNode } from 'react';
import type { ChargeView } from '../../src/console/contract.ts';
import { absent } from '../components/absent.tsx';
import { type Status, StatusBadge } from '../components/status-badge.tsx';
import { formatCount } from '../format/count.ts';
import { parseYuan } from '../format/money.ts';
import { usageWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { useSentenceGap } from '../words/language.ts';

type Ended = Pick<ChargeView, 'status' | 'estimated' | 'cost' | 'refunded'>;

const looks = {
  ok: 'ok',
  cut: 'cut',
  left: 'cut',
  length: 'limitReached',
  error: 'failed',
} as const satisfies Record<string, Status>;

/**
 * How a request ended, in a word or two. Each way to end looks and reads differently; `estimated`
 * and a refund stand beside it, and in place of `ok`.
 */
export function ChargeStatus({ charge }: { readonly charge: Ended }): ReactNode {
  const { statuses } = useWords(usageWords);
  const { status, estimated } = charge;
  const refunded = refundOf(charge);
  const badge = isFree(charge) ? (
    <StatusBadge status="notCharged" />
  ) : (
    <StatusBadge status={looks[status]}>{statuses[status]}</StatusBadge>
  );
  if (!estimated && refunded === undefined) return badge;
  return (
    <span className="inline-flex flex-wrap gap-1">
      {status !== 'ok' && badge}
      {estimated && <StatusBadge status="estimated">{statuses.estimated}</StatusBadge>}
      {refunded !== undefined && <StatusBadge status="refunded">{statuses[refunded]}</StatusBadge>}
    </span>
  );
}

/** Whether it ended well, and there is nothing else to say of its charge. */
export const isPlain = (charge: Ended): boolean =>
  charge.status === 'ok' && !charge.estimated && refundOf(charge) === undefined;

/** Whether the charge came back, whole or in part; undefined: it did not. */
function refundOf({ cost, refunded }: Ended): 'refunded' | 'refundedInPart' | undefined {
  const back = parseYuan(refunded);
  if (back === 0n) return undefined;
  return back < parseYuan(cost) ? 'refundedInPart' : 'refunded';
}

/** Explains the end of a request and its charge; null where nothing needs explaining. */
export function useMeaning(): (charge: Ended) => string | null {
  const { means } = useWords(usageWords);
  const gap = useSentenceGap();
  return (charge) => {
    const { status, estimated } = charge;
    const ended = isFree(charge) ? means.notCharged : status === 'ok' ? '' : means[status];
    return [ended, estimated ? means.estimated : ''].filter(Boolean).join(gap) || null;
  };
}

function isFree({ status, cost }: Ended): boolean {
  return status === 'error' && !/[1-9]/.test(cost);
}

/** The kind in words: `Image edit`. */
export function useKind(): (kind: string) => string {
  const { kinds } = useWords(usageWords);
  return (kind) => kinds[kind] ?? kind;
}

/** Input tokens, with those from the cache as "of which"; or the quantity of what was sent. */
export function InputCell({ charge }: { readonly charge: ChargeView }): ReactNode {
  const words = useWords(usageWords);
  const { tokens } = charge;
  if (tokens === null) return isProduced(charge) ? absent : <Quantity charge={charge} />;
  return (
    <Counted
      count={tokens.input}
      of={tokens.cached_input > 0 ? words.cachedOf(formatCount(tokens.cached_input)) : undefined}
    />
  );
}

/** Output tokens, with reasoning as "of which"; or the quantity of what was made. */
export function OutputCell({ charge }: { readonly charge: ChargeView }): ReactNode {
  const words = useWords(usageWords);
  const { tokens } = charge;
  if (isProduced(charge)) return <Quantity charge={charge} />;
  if (tokens === null) return absent;
  return (
    <Counted
      count={tokens.output}
      of={tokens.reasoning > 0 ? words.reasoningOf(formatCount(tokens.reasoning)) : undefined}
    />
  );
}

const listening: ReadonlySet<string> = new Set(['transcriptions', 'translations']);

/**
 * Whether it was sold by the pieces that the model made: pictures, films, speech. Text to speak and
 * recordings are sent to it.
 */
export function isProduced({ kind, quantity }: Pick<ChargeView, 'kind' | 'quantity'>): boolean {
  if (quantity?.unit === 'second') return !listening.has(kind);
  return quantity?.unit === 'image' || quantity?.unit === 'megapixel';
}

function Quantity({ charge: { quantity } }: { readonly charge: ChargeView }): ReactNode {
  const { units } = useWords(usageWords);
  if (quantity === null) return absent;
  return units[quantity.unit](formatCount(quantity.amount));
}

function Counted({
  count,
  of,
}: {
  readonly count: number;
  readonly of: string | undefined;
}): ReactNode {
  return (
    <>
      {/* Where the table has no room, the request's own page tells it. */}
      {of !== undefined && <span className="mr-2 text-caption text-muted max-xl:hidden">{of}</span>}
      {formatCount(count)}
    </>
  );
}
