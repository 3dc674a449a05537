import type { ReactNode } from 'react';
import type { ChargeDetail, RequestTimeline } from '../../src/console/contract.ts';
import { useData } from '../api/data.ts';
import { Banner } from '../components/banner.tsx';
import { CopyButton, CopyText } from '../components/copy.tsx';
import { Fact, Facts } from '../components/facts.tsx';
import { Icon } from '../components/icon.tsx';
import { Money } from '../components/money.tsx';
import { PathLink } from '../components/path-link.tsx';
import { ApartLink } from './apart-link.tsx';
import { Time, useZone } from '../components/time.tsx';
import { Unbroken } from '../components/unbroken.tsx';
import { formatCount } from '../format/count.ts';
import { formatYuan } from '../format/money.ts';
import { formatDay, formatDuration, formatTime, formatZone } from '../format/time.ts';
import { requestWords, usageWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { useSentenceGap } from '../words/language.ts';
import { ChargeLines, sumsOf, useLineName } from './charge-lines.tsx';
import { ChargeStatus, useKind, useMeaning } from './charge-parts.tsx';
import { formatQuantity } from '../format/quantity.ts';
import { Timeline } from './request-timeline.tsx';

interface ChargeViewProps {
  readonly detail: ChargeDetail;
  /** The API path of the user whose charge it is, when an operator reads it. */
  readonly base?: string | undefined;
  /** The charge is shown over unsaved work: its links open in new tabs. */
  readonly apart?: boolean | undefined;
}

/** One charge with all of its arithmetic: beside a list, or on a page of its own. */
export function ChargeView({ detail, base, apart }: ChargeViewProps): ReactNode {
  const { charge: words } = useWords(usageWords);
  const meaning = useMeaning()(detail);
  return (
    <div className="flex flex-col gap-4">
      <Headline detail={detail} />
      {meaning !== null && (
        <Banner tone={detail.status === 'error' ? 'bad' : 'warn'}>{meaning}</Banner>
      )}
      <div className="flex flex-col gap-2">
        <p className="text-body font-semibold">{words.lines}</p>
        <ChargeLines detail={detail} />
        <Proof detail={detail} />
        {detail.lines.length > 0 && <p className="text-caption text-muted">{words.rule}</p>}
      </div>
      <Input detail={detail} />
      <Base detail={detail} />
      <Attempts detail={detail} base={base} />
      <ChargeFacts detail={detail} base={base} apart={apart} />
      <div className="flex flex-wrap gap-2">
        <CopyAsText detail={detail} />
        {base === undefined && (
          <CopyButton text={`${location.origin}/usage/${detail.id}`}>{words.copyLink}</CopyButton>
        )}
      </div>
    </div>
  );
}

function Headline({ detail }: { readonly detail: ChargeDetail }): ReactNode {
  const { charge: words } = useWords(usageWords);
  const kind = useKind();
  const zone = useZone();
  return (
    <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
      <div className="min-w-0">
        <p className="text-card font-semibold break-words">{detail.model}</p>
        <p className="text-table text-muted">
          {[kind(detail.kind), detail.streamed ? words.streamed : ''].filter(Boolean).join(' · ')}
        </p>
        <p className="text-table text-muted figures">
          <Time at={detail.at} /> · {formatZone(zone, detail.at)}
        </p>
      </div>
      <div className="flex flex-col items-start gap-1 sm:items-end">
        <span className="text-page font-semibold figures">
          <Money amount={detail.cost.replace(/^(?=.*[1-9])/, '-')} as="exact" />
        </span>
        <ChargeStatus charge={detail} />
      </div>
    </div>
  );
}

/** The transfer usually has the id of the charge, which stands among the facts. */
function Proof({ detail: { id, transfer } }: { readonly detail: ChargeDetail }): ReactNode {
  const { charge: words } = useWords(usageWords);
  if (transfer === null) return <p className="text-table text-muted">{words.noTransfer}</p>;
  return (
    <p className="flex min-w-0 flex-wrap items-center gap-x-1.5 text-table">
      {transfer.equal ? (
        <Icon name="check" className="text-good" />
      ) : (
        <Icon name="failed" className="text-bad" />
      )}
      <span>{transfer.equal ? words.equal : words.unequal}</span>
      <Money amount={transfer.amount} as="exact" />
      {transfer.id !== id && (
        <CopyText text={transfer.id} label={words.equal} className="max-w-56" />
      )}
    </p>
  );
}

/** How much input came from the cache, and how much that saved. */
function Input({
  detail: { tokens, without_cache: withoutCache },
}: {
  readonly detail: ChargeDetail;
}): ReactNode {
  const { charge: words } = useWords(usageWords);
  const gap = useSentenceGap();
  if (tokens === null || tokens.cached_input + tokens.cache_write === 0) return null;
  const { input, cached_input: cached, cache_write: written } = tokens;
  const [all, plain, fromCache, toCache] = [input, input - cached - written, cached, written].map(
    formatCount,
  );
  return (
    <p className="text-table text-muted figures">
      {written === 0
        ? words.prompt(all ?? '', plain ?? '', fromCache ?? '')
        : words.promptWritten(all ?? '', plain ?? '', fromCache ?? '', toCache ?? '')}
      {gap}
      {withoutCache !== null && words.withoutCache(formatYuan(withoutCache, 'exact'))}
    </p>
  );
}

/** How the prices came about: base × multiplier, where the multiplier is not 1. */
function Base({ detail: { multiplier, lines } }: { readonly detail: ChargeDetail }): ReactNode {
  const { charge: words } = useWords(usageWords);
  const nameOf = useLineName();
  if (multiplier === null || /^1(?:\.0+)?$/.test(multiplier) || lines.length === 0) return null;
  return (
    <div className="text-table">
      <p className="text-muted">{words.base(multiplier)}</p>
      <ul className="figures">
        {lines.map((line) => (
          <li key={`${line.class}${line.variant}`}>
            {nameOf(line)}{' '}
            <span className="whitespace-nowrap">
              <Money amount={line.base_price?.amount ?? null} as="price" /> →{' '}
              <Money amount={line.price.amount} as="price" />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The attempts that the answer needed, when it was not the first one. */
function Attempts({ detail: { id }, base }: ChargeViewProps): ReactNode {
  const { timeline: words } = useWords(requestWords);
  const { data } = useData<RequestTimeline>(
    `${base === undefined ? '' : `${base}/`}requests/${id}`,
  );
  if (data === undefined || data.attempts.length < 2) return null;
  return (
    <div className="flex flex-col gap-2">
      <p className="text-body font-semibold">{words.title}</p>
      <Timeline attempts={data.attempts} request={data} />
    </div>
  );
}

function ChargeFacts({ detail, base, apart = false }: ChargeViewProps): ReactNode {
  const { charge: words } = useWords(usageWords);
  const zone = useZone();
  const KeyLink = apart ? ApartLink : PathLink;
  const { multiplier, price_version: version, first_byte_ms: firstByteMs, attempts } = detail;
  const facts: readonly (readonly [string, ReactNode])[] = [
    [
      words.key,
      base === undefined ? (
        <KeyLink key="" path={`/keys/${detail.key_id}`}>
          {detail.key_name}
        </KeyLink>
      ) : (
        detail.key_name
      ),
    ],
    [words.group, multiplier === null ? detail.group : words.groupWith(detail.group, multiplier)],
    ...(version === null
      ? []
      : [
          [
            words.version,
            <Unbroken
              key=""
              text={words.versionSince(version.version, formatDay(version.since, zone))}
            />,
          ] as const,
        ]),
    ...(firstByteMs === null ? [] : [[words.firstByte, formatDuration(firstByteMs)] as const]),
    [words.total_ms, formatDuration(detail.total_ms)],
    ...detail.refunds.map(
      ({ id, amount, at }) =>
        [
          words.refunds,
          <span key={id} className="flex flex-wrap justify-end gap-x-2">
            <Money amount={amount} as="exact" signed />
            <Time at={at} />
          </span>,
        ] as const,
    ),
    ...(attempts === null
      ? []
      : [
          [words.attempts, formatCount(attempts.count)] as const,
          [words.channel, attempts.channel ?? '—'] as const,
        ]),
    ...(attempts?.upstream_id == null
      ? []
      : [
          [
            words.upstream,
            <CopyText key="" text={attempts.upstream_id} label={words.upstream} />,
          ] as const,
        ]),
    [words.id, <CopyText key="" text={detail.id} label={words.id} />],
  ];
  return (
    <div className="border-t border-line pt-3 figures">
      <Facts>
        {facts.map(([name, value]) => (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ))}
      </Facts>
    </div>
  );
}

/** Copies the arithmetic for a mail or a sheet: only what the page shows. */
function CopyAsText({ detail }: { readonly detail: ChargeDetail }): ReactNode {
  const { charge: words, per, units } = useWords(usageWords);
  const nameOf = useLineName();
  const kind = useKind();
  const zone = useZone();
  const lines = detail.lines.map(
    (line) =>
      `${nameOf(line)}: ${units[line.price.unit](formatQuantity(line.quantity))} × ¥${line.price.amount} ${per[line.price.unit]} = ${line.exact} → ${line.charged}`,
  );
  const sums = sumsOf(detail).map(([name, amount]) => `${words[name]}: ${amount}`);
  const text = [
    `${detail.id} · ${detail.model} · ${kind(detail.kind)} · ${formatTime(detail.at, zone)} ${formatZone(zone, detail.at)}`,
    ...lines,
    ...sums,
    ...(detail.transfer === null
      ? []
      : [`${words.equal}: ${detail.transfer.id} ${detail.transfer.amount}`]),
  ].join('\n');
  return <CopyButton text={text}>{words.copyText}</CopyButton>;
}
