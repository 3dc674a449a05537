import type { ReactNode } from 'react';
import type {
  PricePreview,
  PriceWarning,
  PreviewLine,
  PriceClass,
} from '../../../src/console/contract.ts';
import { Banner } from '../../components/banner.tsx';
import { FormProblem } from '../../components/form.tsx';
import { Fact, Facts } from '../../components/facts.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { formatShare, signedCount, signedPercent } from '../../format/count.ts';
import { formatYuan } from '../../format/money.ts';
import { lineKey, priceText } from '../../format/price.ts';
import { formatQuantity } from '../../format/quantity.ts';
import { modelsWords, priceWords, usageWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { useLineName } from '../model-parts.tsx';

interface PreviewProps {
  readonly preview: PricePreview | undefined;
  readonly error: Error | null;
  readonly busy: boolean;
}

/** The revenue that the price would have brought; warnings before figures. */
export function PricePreviewPanel({ preview, error, busy }: PreviewProps): ReactNode {
  const { editor: words } = useWords(priceWords);
  return (
    <section
      aria-label={words.preview}
      aria-busy={busy || undefined}
      className="flex flex-col gap-3 border-t border-line pt-4"
    >
      <h3 className="text-table font-semibold">{words.preview}</h3>
      {error !== null && <FormProblem error={error} />}
      {error === null && preview === undefined && <Skeleton className="h-24" />}
      {error === null && preview !== undefined && <Preview preview={preview} />}
    </section>
  );
}

function Preview({ preview }: { readonly preview: PricePreview }): ReactNode {
  const { editor: words } = useWords(priceWords);
  const { revenue, vendor_cost: cost, margin, users, warnings, lines } = preview;
  const used = lines.filter(({ quantity }) => quantity !== '0');
  const share = (value: number | null) => (value === null ? '—' : formatShare(value));
  return (
    <>
      {warnings.map((warning) => (
        <Warning
          key={`${warning.code} ${Object.values(warning.values).join(' ')}`}
          warning={warning}
        />
      ))}
      {used.length === 0 ? (
        <p className="text-table text-muted">{words.nobody}</p>
      ) : (
        <Used lines={used} />
      )}
      {used.length > 0 && (
        <Facts>
          <Fact name={words.revenue}>
            <span className="figures">
              {words.change(formatYuan(revenue.now, 'exact'), formatYuan(revenue.new, 'exact'))}{' '}
              {revenue.change !== null && (
                <b className="font-medium whitespace-nowrap">
                  {words.percent(signedPercent(revenue.change))}
                </b>
              )}
            </span>
          </Fact>
          <Fact name={words.vendorCost}>
            <span className="figures">
              {cost === null ? words.noVendorCost : formatYuan(cost, 'exact')}
            </span>
          </Fact>
          {margin !== null && (
            <Fact name={words.margin}>
              <span className="figures">{words.change(share(margin.now), share(margin.new))}</span>
            </Fact>
          )}
        </Facts>
      )}
      {used.length > 0 && (
        <p className="text-table">
          {words.users(String(users.pay_more), String(users.pay_less), String(users.same))}
        </p>
      )}
      <Groups preview={preview} />
    </>
  );
}

function Used({ lines }: { readonly lines: readonly PreviewLine[] }): ReactNode {
  const { editor: words } = useWords(priceWords);
  const { units } = useWords(usageWords);
  const nameOf = useLineName();
  return (
    <ul className="flex flex-col divide-y divide-line rounded-control border border-line">
      {lines.map((line) => {
        const price = line.new ?? line.now;
        if (price === null) return null;
        return (
          <li
            key={price.class}
            className="grid gap-x-4 px-3 py-1.5 text-table sm:grid-cols-[minmax(0,1fr)_auto_minmax(17rem,auto)] sm:items-baseline"
          >
            <span>{nameOf(price)}</span>
            <span className="text-muted figures sm:text-right">
              <span className="sr-only">{words.usage}: </span>
              {units[price.unit](formatQuantity(line.quantity))}
            </span>
            <span className="figures sm:text-right">
              {words.change(formatYuan(line.cost_now, 'exact'), formatYuan(line.cost_new, 'exact'))}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

function Groups({ preview: { groups } }: { readonly preview: PricePreview }): ReactNode {
  const { editor: words } = useWords(priceWords);
  const nameOf = useLineName();
  return (
    <details>
      <summary className="text-table font-medium">{words.groups}</summary>
      <dl className="mt-2 flex flex-col gap-2 text-table">
        {groups.map(({ group, multiplier, prices }) => (
          <div key={group}>
            <dt className="text-muted wrap-anywhere">{words.group(group, multiplier)}</dt>
            <dd className="flex flex-wrap gap-x-4">
              {prices.map((price) => (
                <span key={lineKey(price)}>
                  {nameOf(price)} <span className="figures">{priceText(price.amount)}</span>
                </span>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function Warning({ warning: { code, values } }: { readonly warning: PriceWarning }): ReactNode {
  const { editor } = useWords(priceWords);
  const { classes } = useWords(modelsWords);
  const { warnings: words } = editor;
  const line = classes[values['class'] as PriceClass] ?? values['class'] ?? '';
  const text = {
    below_vendor_cost: () =>
      words.below_vendor_cost(line, values['group'] ?? '', values['channel'] ?? ''),
    large_change: () => words.large_change(line, signedCount(Number(values['percent']))),
    class_without_price: () => words.class_without_price(line),
    until_the_configuration_changes: () => words.until_the_configuration_changes,
  }[code]();
  const tone =
    code === 'class_without_price'
      ? 'bad'
      : code === 'until_the_configuration_changes'
        ? 'accent'
        : 'warn';
  return <Banner tone={tone}>{text}</Banner>;
}
