import { useMutation, useQuery, keepPreviousData } from '@tanstack/react-query';
import { clsx } from 'clsx';
import { type ReactNode, useEffect, useState } from 'react';
import type {
  OperatorModelDetail,
  PriceChange,
  PricePreview,
  PriceVersionRef,
  PublishAnswer,
  PublishBody,
  UnitPrice,
} from '../../../src/console/contract.ts';
import { ApiError, newIdempotencyKey, send } from '../../api/client.ts';
import { Banner } from '../../components/banner.tsx';
import { Button } from '../../components/button.tsx';
import { MaybeDisabled } from '../../components/maybe-disabled.tsx';
import { DayInput } from '../../components/day-input.tsx';
import { type Mistakes, Refusal, useRefusedFields } from '../../components/form.tsx';
import { ChoiceField } from '../../components/choice.tsx';
import { AmountInput, Field } from '../../components/field.tsx';
import { FractionPad } from '../../components/fraction-pad.tsx';
import { Panel } from '../../components/page.tsx';
import { IconButton } from '../../components/button.tsx';
import { useErrorToast } from '../../components/error-panel.tsx';
import { Time, useZone } from '../../components/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { longestFraction } from '../../format/money.ts';
import { lineKey, priceText } from '../../format/price.ts';
import { instantOf, isClock } from '../../format/day.ts';
import {
  chargedAs,
  emptyLine,
  linesOf,
  type PriceLine,
  writtenPrices,
} from '../../format/written-price.ts';
import { modelsWords, priceWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { Rich } from '../../words/rich.tsx';
import { useLineName } from '../model-parts.tsx';
import { refreshModels } from './model-parts.ts';
import { ReasonField } from './parts.tsx';
import { AddLine, lineError, refusedLines } from './price-fields.tsx';
import { PricePreviewPanel } from './price-preview.tsx';

const quietMs = 350;

/** The number of the price that was published last: one that waits, or the one in force. */
export const latestVersionOf = ({ waiting_price: waiting, price_version: version }: Versions) =>
  waiting?.version ?? version;

type Versions = Pick<OperatorModelDetail, 'waiting_price' | 'price_version'>;

/**
 * The price of a model beside the new one, and what the new one would have brought in the last
 * seven days.
 */
export function PriceEditor({ model }: { readonly model: OperatorModelDetail }): ReactNode {
  const { editor: words } = useWords(priceWords);
  const start = linesOf(model.prices);
  const [lines, setLines] = useState(start);
  const change = {
    model: model.id,
    price: writtenPrices(lines),
    from_version: latestVersionOf(model),
    price_version: model.price_version,
  };
  const changed = JSON.stringify(change.price) !== JSON.stringify(writtenPrices(start));
  const wrong = lines.some((line) => lineError(line) !== undefined);
  const preview = usePreview(changed && !wrong ? change : undefined);
  const refused = useRefusedFields(preview.error);
  const [form, setForm] = useState(newIdempotencyKey);
  const reset = () => {
    setLines(start);
    setForm(newIdempotencyKey());
  };
  return (
    <Panel
      title={words.title}
      actions={
        changed && (
          <Button size="small" look="ghost" icon="back" onClick={reset}>
            {words.reset}
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-4">
        {model.waiting_price !== null && <Waiting waiting={model.waiting_price} />}
        <Lines
          model={model}
          start={start}
          lines={lines}
          refused={refusedLines(refused, 'price', lines)}
          onChange={setLines}
        />
        <Further prices={model.further_prices} />
        {changed ? (
          <>
            <PricePreviewPanel
              preview={preview.data}
              error={preview.error}
              busy={preview.isFetching}
            />
            <Publish
              key={form}
              idempotencyKey={form}
              change={change}
              preview={preview.data}
              wrong={wrong}
              version={latestVersionOf(model) + 1}
            />
          </>
        ) : (
          <p className="text-table text-muted">{words.previewHelp}</p>
        )}
      </div>
    </Panel>
  );
}

/** What an earlier time of the new price does to the one that waits. */
function Waiting({
  waiting: { version, since },
}: {
  readonly waiting: PriceVersionRef;
}): ReactNode {
  const { editor: words } = useWords(priceWords);
  return (
    <Banner tone="accent">
      <Rich text={words.waiting(version)} since={<Time at={since} />} />
    </Banner>
  );
}

/** Prices by mode and place, and of tools. */
function Further({ prices }: { readonly prices: readonly UnitPrice[] }): ReactNode {
  const { editor: words } = useWords(priceWords);
  return (
    <>
      <FurtherPrices
        title={words.modes}
        help={words.modesHelp}
        prices={prices.filter((price) => !isToolPrice(price))}
      />
      <FurtherPrices
        title={words.tools}
        help={words.toolsHelp}
        prices={prices.filter(isToolPrice)}
      />
    </>
  );
}

const isToolPrice = ({ unit }: UnitPrice): boolean => unit === 'call';

interface FurtherProps {
  readonly title: string;
  readonly help: string;
  readonly prices: readonly UnitPrice[];
}

/** Prices by mode and place, or of tools: the form does not change them. */
function FurtherPrices({ title, help, prices }: FurtherProps): ReactNode {
  const { per, pricePer } = useWords(modelsWords);
  const nameOf = useLineName();
  if (prices.length === 0) return null;
  return (
    <section className="flex flex-col gap-1 text-table">
      <h3 className="text-caption font-medium text-muted">{title}</h3>
      <ul className="grid gap-x-6 gap-y-1 sm:grid-cols-2">
        {prices.map((price) => (
          <li key={lineKey(price)} className="flex flex-wrap justify-between gap-x-3">
            <span className="text-muted">{nameOf(price)}</span>
            <span className="figures">{pricePer(priceText(price.amount), per[price.unit])}</span>
          </li>
        ))}
      </ul>
      <p className="text-caption text-muted">{help}</p>
    </section>
  );
}

/** Requests the preview once typing pauses. */
function usePreview(change: PriceChange | undefined) {
  const settled = useSettled(change === undefined ? '' : JSON.stringify(change));
  return useQuery({
    queryKey: ['operator/prices/preview', settled],
    queryFn: ({ signal }) =>
      send<PricePreview>('POST', 'operator/prices/preview', {
        body: JSON.parse(settled),
        signal,
      }),
    enabled: settled !== '',
    placeholderData: keepPreviousData,
    retry: false,
  });
}

function useSettled(text: string): string {
  const [settled, setSettled] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), quietMs);
    return () => clearTimeout(timer);
  }, [text]);
  return text === '' ? '' : settled;
}

/** Name, present price, new price, and the button that removes the line. */
const lineGrid =
  'grid grid-cols-[minmax(0,1fr)_auto_2.75rem] items-center gap-x-3 gap-y-1 sm:grid-cols-[minmax(0,1fr)_8rem_11rem_auto]';

/** Heads of the columns for eyes: each line names its prices for screen readers. */
function LineHead({
  version,
  next,
}: {
  readonly version: number;
  readonly next: string;
}): ReactNode {
  const { editor: words } = useWords(priceWords);
  return (
    <div aria-hidden="true" className={clsx(lineGrid, 'text-caption text-muted max-sm:hidden')}>
      <span className="col-start-2 text-right">{words.now(version)}</span>
      <span className="text-right">{next}</span>
      <span className="w-8" />
    </div>
  );
}

interface LinesProps {
  readonly model: Versions & Pick<OperatorModelDetail, 'prices'>;
  readonly start: readonly PriceLine[];
  readonly lines: readonly PriceLine[];
  /** The mistakes that the server found, by line. */
  readonly refused: Mistakes;
  readonly onChange: (lines: readonly PriceLine[]) => void;
}

function Lines({ model, start, lines, refused, onChange }: LinesProps): ReactNode {
  const { editor: words } = useWords(priceWords);
  const { per } = useWords(modelsWords);
  const nameOf = useLineName();
  const goes = useGoes();
  const all = [
    ...start,
    ...lines.filter((line) => !start.some((known) => lineKey(known) === lineKey(line))),
  ];
  const known = new Map(model.prices.map((price) => [lineKey(price), priceText(price.amount)]));
  const places = longestFraction([...known.values()]);
  const next = words.next(latestVersionOf(model) + 1);
  const set = (key: string, amount: string) => {
    const line = all.find((each) => lineKey(each) === key);
    if (line === undefined) return;
    const there = lines.some((each) => lineKey(each) === key);
    onChange(
      there
        ? lines.map((each) => (lineKey(each) === key ? { ...each, amount } : each))
        : [...lines, { ...line, amount }],
    );
  };
  return (
    <div className="flex flex-col gap-3">
      <LineHead version={model.price_version} next={next} />
      <ul className="flex flex-col divide-y divide-line">
        {all.map((line) => {
          const key = lineKey(line);
          const before = known.get(key);
          const typed = lines.find((each) => lineKey(each) === key)?.amount ?? '';
          return (
            <li key={key} className={clsx(lineGrid, 'py-2')}>
              <span className="min-w-0 text-table">
                {nameOf(line)} <span className="text-caption text-muted">¥ / {per[line.unit]}</span>
              </span>
              <span className="text-right text-table text-muted figures max-sm:col-span-2">
                <span className="text-caption sm:sr-only">{words.now(model.price_version)} </span>
                {before ?? '—'}
                {before !== undefined && <FractionPad of={before} places={places} />}
              </span>
              <Field
                className="max-sm:col-span-2"
                label={<span className="sr-only">{`${nameOf(line)}: ${next}`}</span>}
                error={lineError({ ...line, amount: typed }) ?? refused[key]}
              >
                {(tied) => (
                  <AmountInput
                    {...tied}
                    name={key}
                    className="text-right"
                    value={typed}
                    placeholder={before === undefined ? '' : goes(line, lines)}
                    onChange={(amount) => set(key, amount)}
                  />
                )}
              </Field>
              <IconButton
                icon="close"
                size="small"
                label={words.removeLine(nameOf(line))}
                onClick={() => onChange(lines.filter((each) => lineKey(each) !== key))}
              />
            </li>
          );
        })}
      </ul>
      <AddLine lines={all} onAdd={(of) => onChange([...lines, emptyLine(of)])} />
    </div>
  );
}

/** What stands in the place of the price of a line that is taken out of `lines`. */
function useGoes(): (line: PriceLine, lines: readonly PriceLine[]) => string {
  const { editor: words } = useWords(priceWords);
  return (line, lines) => {
    const side = chargedAs(line, lines);
    return side === undefined ? words.goes : words.goesAs[side];
  };
}

interface PublishProps {
  readonly change: PriceChange;
  readonly preview: PricePreview | undefined;
  readonly wrong: boolean;
  readonly version: number;
  readonly idempotencyKey: string;
}

function Publish({ change, preview, wrong, version, idempotencyKey }: PublishProps): ReactNode {
  const { editor: words } = useWords(priceWords);
  const toast = useToast();
  const showError = useErrorToast();
  const zone = useZone();
  const [reason, setReason] = useState('');
  const [at, setAt] = useState<string>();
  const [own, setOwn] = useState<{ readonly reason?: string; readonly at?: string }>({});
  const publish = useMutation({
    mutationFn: () => {
      const body: PublishBody = {
        changes: [change],
        reason: reason.trim(),
        ...(at !== undefined && { effective_at: instantOf(at, zone) }),
      };
      return send<PublishAnswer>('POST', 'operator/prices/publish', { body, idempotencyKey });
    },
    onSuccess: async ({ versions }) => {
      toast({ tone: 'done', text: words.published(change.model, versions[0]?.version ?? version) });
      await refreshModels();
    },
    onError: async (error) => {
      showError(error);
      if (error instanceof ApiError && error.code === 'version_conflict') await refreshModels();
    },
  });
  const submit = () => {
    const unread = at !== undefined && !isClock(at);
    const late = at !== undefined && !unread && Date.parse(instantOf(at, zone)) <= Date.now();
    const mistakes = {
      ...(reason.trim() === '' && { reason: 'required' }),
      ...(unread && { at: 'not_a_clock' }),
      ...(late && { at: words.past }),
    };
    setOwn(mistakes);
    if (Object.keys(mistakes).length === 0) publish.mutate();
  };
  const refused = useRefusedFields(publish.error);
  const barred = wrong || preview?.publishable === false ? words.refused : undefined;
  return (
    <div className="flex flex-col gap-3 border-t border-line pt-4">
      <div className="flex flex-wrap items-start gap-3">
        <EffectiveFields at={at} error={own.at ?? refused['effective_at']} onChange={setAt} />
        <ReasonField
          value={reason}
          onChange={setReason}
          error={own.reason ?? refused['reason']}
          className="flex-1 basis-60"
        />
      </div>
      <Refusal error={publish.error} refused={refused} />
      <div className="flex justify-end">
        <MaybeDisabled
          look="primary"
          busy={publish.isPending}
          disabledFor={barred}
          onClick={submit}
        >
          {words.publish(version)}
        </MaybeDisabled>
      </div>
    </div>
  );
}

interface EffectiveProps {
  /** Undefined: the price applies at once. */
  readonly at: string | undefined;
  readonly error: string | undefined;
  readonly onChange: (at: string | undefined) => void;
}

function EffectiveFields({ at, error, onChange }: EffectiveProps): ReactNode {
  const { editor: words } = useWords(priceWords);
  const zone = useZone();
  return (
    <>
      <ChoiceField
        label={words.effective}
        className="w-40"
        value={at === undefined ? 'now' : 'later'}
        options={[
          ['now', words.immediately],
          ['later', words.later],
        ]}
        onChange={(when) => onChange(when === 'now' ? undefined : '')}
      />
      {at !== undefined && (
        <Field label={words.at} help={zone} error={error} className="w-56">
          {(tied) => <DayInput {...tied} withTime value={at} onChange={onChange} />}
        </Field>
      )}
    </>
  );
}
