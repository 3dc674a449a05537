import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import type { PriceImportReport, PriceClass } from '../../../src/console/contract.ts';
import { linkLook } from '../../components/button.tsx';
import { Panel } from '../../components/page.tsx';
import { PathLink } from '../../components/path-link.tsx';
import { Badge } from '../../components/status-badge.tsx';
import { signedCount } from '../../format/count.ts';
import { lineKey, priceText } from '../../format/price.ts';
import { modelsWords, operatorWords, priceWords, reasonWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { useLineName } from '../model-parts.tsx';
import { operatorModelPath } from './model-parts.ts';

/** The effect of a price list: lists that hold something, refused lines first. */
export function ImportLists({ report }: { readonly report: PriceImportReport }): ReactNode {
  const { import: words } = useWords(priceWords);
  const { comma } = useWords(operatorWords);
  return (
    <div className="flex flex-col gap-4">
      <Listed title={words.lists.refused} count={report.refused.length} tone="bad">
        <Refused report={report} />
      </Listed>
      <Listed title={words.lists.changed} count={report.changed.length} tone="accent">
        <Changed report={report} />
      </Listed>
      <Listed title={words.lists.new} count={report.new.length} tone="good">
        <New report={report} />
      </Listed>
      <Listed title={words.lists.unchanged} count={report.unchanged.length} tone="idle">
        <p className="text-table wrap-anywhere">{report.unchanged.join(comma)}</p>
      </Listed>
    </div>
  );
}

interface ListedProps {
  readonly title: string;
  readonly count: number;
  readonly tone: 'good' | 'accent' | 'idle' | 'bad';
  readonly children: ReactNode;
}

function Listed({ title, count, tone, children }: ListedProps): ReactNode {
  if (count === 0) return null;
  return (
    <Panel
      title={
        <span className="flex items-center gap-2">
          {title} <Badge tone={tone}>{count}</Badge>
        </span>
      }
    >
      {children}
    </Panel>
  );
}

interface ReportProps {
  readonly report: PriceImportReport;
}

function Refused({ report: { refused } }: ReportProps): ReactNode {
  const { import: words } = useWords(priceWords);
  const { reasons } = useWords(reasonWords);
  return (
    <ul className="flex flex-col gap-2 text-table">
      {refused.map(({ line, text, why, code, values }, index) => (
        <li key={index} className="flex min-w-0 flex-wrap gap-x-3">
          {line !== null && <span className="text-muted figures">{words.refusedLine(line)}</span>}
          <code className="max-w-full rounded-badge bg-sunken px-1 text-caption wrap-anywhere">
            {text}
          </code>
          <span className="text-bad wrap-anywhere">{reasons[code ?? '']?.(values) ?? why}</span>
        </li>
      ))}
    </ul>
  );
}

function Changed({ report: { changed } }: ReportProps): ReactNode {
  const { classes } = useWords(modelsWords);
  const { editor, import: words } = useWords(priceWords);
  const named = (member: string) => {
    const [of = '', ...rest] = member.split(' ');
    return [classes[of as PriceClass] ?? of, ...rest].join(' ');
  };
  const price = (amount: string | null) => (amount === null ? '—' : priceText(amount));
  return (
    <ul className="flex flex-col divide-y divide-line text-table">
      {changed.map(({ model, changes }) => (
        <li
          key={model}
          className="grid gap-x-4 gap-y-1 py-2 first:pt-0 last:pb-0 sm:grid-cols-[minmax(0,1fr)_minmax(0,2fr)]"
        >
          <PathLink
            path={operatorModelPath(model)}
            className={clsx('min-w-0 font-medium wrap-anywhere', linkLook)}
          >
            {model}
          </PathLink>
          <ul className="flex flex-col gap-0.5">
            {changes.map(({ class: member, unit, far_off: off, from, to, percent }) => (
              <li key={member} className="flex flex-wrap justify-between gap-x-3">
                <span className="text-muted">
                  {named(member)}{' '}
                  {unit !== null && <span className="text-caption">¥ / {words.units[unit]}</span>}
                </span>
                <span className="figures">
                  {off && (
                    <span className="mr-2">
                      <Badge tone="bad" icon="warning">
                        {words.looksWrong}
                      </Badge>
                    </span>
                  )}
                  {editor.change(price(from), to === null ? editor.goes : price(to))}
                  {percent !== null && (
                    <span className={percent > 0 ? 'ml-2 text-warn' : 'ml-2 text-good'}>
                      {editor.percent(signedCount(percent))}
                    </span>
                  )}
                </span>
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}

function New({ report }: ReportProps): ReactNode {
  const nameOf = useLineName();
  const { per, pricePer } = useWords(modelsWords);
  const { import: words } = useWords(priceWords);
  return (
    <ul className="flex flex-col divide-y divide-line text-table">
      {report.new.map(({ model, prices, far_off: off }) => (
        <li
          key={model}
          className="flex flex-wrap justify-between gap-x-4 gap-y-1 py-2 first:pt-0 last:pb-0"
        >
          <span className="font-medium wrap-anywhere">{model}</span>
          <span className="flex flex-wrap gap-x-4">
            {off && (
              <Badge tone="bad" icon="warning">
                {words.looksWrong}
              </Badge>
            )}
            {prices.map((price) => (
              <span key={lineKey(price)}>
                <span className="text-muted">{nameOf(price)}</span>{' '}
                <span className="figures">
                  {pricePer(priceText(price.amount), per[price.unit])}
                </span>
              </span>
            ))}
          </span>
        </li>
      ))}
    </ul>
  );
}
