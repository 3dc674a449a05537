import type { ReactNode } from 'react';
import type { PriceClass, PriceUnit, UsageSummary } from '../../src/console/contract.ts';
import { FigureCard, Figures } from '../components/figure.tsx';
import { Money } from '../components/money.tsx';
import { useZone } from '../components/time.tsx';
import { Unbroken } from '../components/unbroken.tsx';
import { formatCompact, formatCount, formatShare } from '../format/count.ts';
import { formatYuan, parseYuan } from '../format/money.ts';
import { formatQuantity } from '../format/quantity.ts';
import { formatTime } from '../format/time.ts';
import { usageWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { useLanguage } from '../words/language.ts';

interface StripProps {
  readonly summary: UsageSummary;
  /** The start that the filter wants, as sent to the API: an instant, or `-24h`. */
  readonly requestedFrom: string;
}

/**
 * The totals of the filter: requests and money, and tokens by class, since each class has its own
 * price.
 */
export function UsageStrip({ summary, requestedFrom }: StripProps): ReactNode {
  const { figures: words } = useWords(usageWords);
  const { requests, cost, refunded, tokens, error_share: errorShare } = summary;
  return (
    <div className="flex flex-col gap-2">
      <Figures>
        <FigureCard
          label={words.requests}
          value={<Count of={requests} />}
          note={requests > 0 && words.perRequest(meanOf(cost, requests))}
        />
        <FigureCard
          label={words.cost}
          value={<Money amount={cost} as="spend" />}
          note={parseYuan(refunded) > 0n && words.refunded(formatYuan(refunded, 'spend'))}
        />
        <FigureCard
          label={words.input}
          value={<Count of={tokens.input} />}
          note={tokens.cache_write > 0 && words.written(formatCount(tokens.cache_write))}
        />
        <FigureCard
          label={words.cached}
          value={<Count of={tokens.cached_input} />}
          note={tokens.input > 0 && words.ofInput(formatShare(tokens.cached_input / tokens.input))}
        />
        <FigureCard
          label={words.output}
          value={<Count of={tokens.output} />}
          note={
            tokens.reasoning > 0 ? (
              <ReasoningNote count={tokens.reasoning} />
            ) : (
              tokens.output > 0 && words.noReasoning
            )
          }
        />
        <FigureCard
          label={words.errors}
          value={errorShare === null ? '—' : formatShare(errorShare)}
          note={errorShare !== null && words.errorsNote}
        />
      </Figures>
      <Pieces summary={summary} requestedFrom={requestedFrom} />
    </div>
  );
}

/** The unit of a class that is not sold by tokens; tool calls count as `call`. */
function pieceUnit(of: PriceClass): Exclude<PriceUnit, 'token'> | undefined {
  if (
    of === 'image' ||
    of === 'megapixel' ||
    of === 'second' ||
    of === 'character' ||
    of === 'request'
  )
    return of;
  return tools.has(of) ? 'call' : undefined;
}

const tools: ReadonlySet<PriceClass> = new Set<PriceClass>([
  'web_search',
  'web_fetch',
  'file_search',
  'code_session',
  'grounding_query',
  'mcp_call',
]);

/** Images, seconds, characters: quantities that are not tokens, with their cost. */
function Pieces({
  summary: { quantities, from, as_of: asOf },
  requestedFrom,
}: StripProps): ReactNode {
  const words = useWords(usageWords);
  const zone = useZone();
  const pieces = quantities.flatMap(({ class: of, amount, cost }) => {
    const unit = pieceUnit(of);
    return unit === undefined
      ? []
      : [{ of, cost, text: words.units[unit](formatQuantity(amount)) }];
  });
  const late = Date.parse(from) - beginOf(requestedFrom, Date.parse(asOf)) > slackMs;
  return (
    <>
      {pieces.length > 0 && (
        <p className="flex flex-wrap gap-x-4 text-table text-muted figures">
          <span>{words.figures.pieces}</span>
          {pieces.map(({ of, text, cost }) => (
            <span key={of}>
              {text} · <Money amount={cost} as="spend" />
            </span>
          ))}
        </p>
      )}
      {late && (
        <p className="text-caption text-muted">
          <Unbroken text={words.figures.from(formatTime(from, zone))} />
        </p>
      )}
    </>
  );
}

const slackMs = 120_000;
const hourMs = 3_600_000;

/** The instant of `-24h`, or of an instant, in ms. */
function beginOf(from: string, nowMs: number): number {
  const [, hours] = /^-(\d+)h$/.exec(from) ?? [];
  return hours === undefined ? Date.parse(from) : nowMs - Number(hours) * hourMs;
}

function meanOf(cost: string, requests: number): string {
  const count = BigInt(requests);
  return formatYuan((parseYuan(cost) + count - 1n) / count, 'mean');
}

function ReasoningNote({ count }: { readonly count: number }): ReactNode {
  const { figures } = useWords(usageWords);
  const language = useLanguage();
  return (
    <span data-tip={figures.exactly(formatCount(count))}>
      {figures.reasoning(formatCompact(count, language))}
    </span>
  );
}

function Count({ of }: { readonly of: number }): ReactNode {
  const { figures } = useWords(usageWords);
  const language = useLanguage();
  const [short, exact] = [formatCompact(of, language), formatCount(of)];
  if (short === exact) return short;
  return (
    <span data-tip={figures.exactly(exact)} tabIndex={0}>
      {short}
    </span>
  );
}
