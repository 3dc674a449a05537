import type { ReactNode } from 'react';
import type { ChannelHealth, ChannelView } from '../../../src/console/contract.ts';
import { useData } from '../../api/data.ts';
import { Chart } from '../../components/chart.tsx';
import { Banner } from '../../components/banner.tsx';
import { Figures, FigureCard } from '../../components/figure.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Money } from '../../components/money.tsx';
import { Panel } from '../../components/page.tsx';
import { Time, useZone } from '../../components/time.tsx';
import { axisCount, formatCount, formatShare } from '../../format/count.ts';
import { formatYuan } from '../../format/money.ts';
import { formatClock, formatDuration } from '../../format/time.ts';
import { channelWords, operatorWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { Rich } from '../../words/rich.tsx';
import { ChannelKeys } from './channel-keys.tsx';
import { channelAddress } from './channel-parts.tsx';

export function ChannelHealthTab({ channel }: { readonly channel: ChannelView }): ReactNode {
  const words = useWords(channelWords);
  const health = useData<ChannelHealth>(`${channelAddress(channel.name)}/health`);
  const { overview } = useWords(operatorWords);
  const { last_hour: hour, running } = channel;
  const { first_byte_median_ms: median, first_byte_p95_ms: p95 } = hour;
  return (
    <div className="flex flex-col gap-4">
      <Figures>
        <FigureCard label={words.health.runningNow} value={formatCount(running)} />
        <FigureCard label={words.columns.requests} value={formatCount(hour.requests)} />
        <FigureCard
          label={words.columns.errors}
          value={hour.error_share === null ? '—' : formatShare(hour.error_share)}
          note={hour.error_share === null && overview.noAttempts}
        />
        <FigureCard
          label={words.health.firstByte}
          value={median === null ? '—' : formatDuration(median)}
          note={p95 === null ? overview.noAnswers : overview.firstByteNote(formatDuration(p95))}
        />
        <FigureCard
          label={words.columns.cost}
          value={<Money amount={channel.vendor_cost_24h} as="spend" />}
          note={channel.vendor_cost_24h === null && overview.trend.noCost}
        />
      </Figures>
      {channel.overruns_24h.answers > 0 && (
        <Banner tone="warn">
          {words.health.overruns(
            formatCount(channel.overruns_24h.answers),
            formatYuan(channel.overruns_24h.loss, 'spend'),
          )}
        </Banner>
      )}
      <Loaded query={health}>
        {(view) => (
          <div className="grid gap-4 lg:grid-cols-2">
            <ChannelKeys keys={channel.keys} />
            <ErrorsByKind health={view} />
            <FirstByte health={view} />
            <Story health={view} />
          </div>
        )}
      </Loaded>
    </div>
  );
}

interface HealthProps {
  readonly health: ChannelHealth;
}

function ErrorsByKind({ health: { hours } }: HealthProps): ReactNode {
  const { health: words } = useWords(channelWords);
  const { faults, overview } = useWords(operatorWords);
  const zone = useZone();
  const sum = (errors: Readonly<Record<string, number>>) =>
    Object.values(errors).reduce((all, count) => all + count, 0);
  const of = (kind: string) => hours.reduce((all, { errors }) => all + (errors[kind] ?? 0), 0);
  const kinds = [...new Set(hours.flatMap(({ errors }) => Object.keys(errors)))].toSorted(
    (a, b) => of(b) - of(a),
  );
  const errors = hours.reduce((all, hour) => all + sum(hour.errors), 0);
  const requests = formatCount(hours.reduce((all, hour) => all + hour.requests, 0));
  return (
    <Panel title={words.errors}>
      {errors === 0 ? (
        <p className="text-table text-muted">{words.noErrors(requests)}</p>
      ) : (
        <Chart
          kind="stacked"
          lastIsOpen
          labels={hours.map(({ hour }) => formatClock(hour, zone))}
          labelHeader={words.hour}
          summary={words.errorsSummary(formatCount(errors), requests)}
          series={kinds.map((kind) => ({
            id: kind,
            name: faults[kind] ?? kind,
            values: hours.map((hour) => hour.errors[kind] ?? 0),
            texts: hours.map((hour) => formatCount(hour.errors[kind] ?? 0)),
          }))}
          totals={hours.map((hour) =>
            overview.errorsOf(formatCount(sum(hour.errors)), formatCount(hour.requests)),
          )}
          axis={axisCount}
        />
      )}
    </Panel>
  );
}

/** Gaps where there was no traffic. */
function FirstByte({ health: { hours } }: HealthProps): ReactNode {
  const { health: words } = useWords(channelWords);
  const zone = useZone();
  const text = (ms: number | null) => (ms === null ? '—' : formatDuration(ms));
  const last =
    hours.findLast(({ first_byte_median_ms: median }) => median !== null)?.first_byte_median_ms ??
    null;
  const lines = [
    {
      id: 'median',
      name: words.median,
      of: (hour: ChannelHealth['hours'][number]) => hour.first_byte_median_ms,
    },
    {
      id: 'p95',
      name: words.p95,
      of: (hour: ChannelHealth['hours'][number]) => hour.first_byte_p95_ms,
    },
  ];
  return (
    <Panel title={words.latency}>
      {last === null ? (
        <p className="text-table text-muted">{words.noAnswers}</p>
      ) : (
        <Chart
          kind="lines"
          labels={hours.map(({ hour }) => formatClock(hour, zone))}
          labelHeader={words.hour}
          summary={words.latencySummary(text(last))}
          series={lines.map(({ id, name, of }) => ({
            id,
            name,
            values: hours.map(of),
            texts: hours.map((hour) => text(of(hour))),
          }))}
          axis={(ms) => formatDuration(ms)}
        />
      )}
    </Panel>
  );
}

function Story({ health: { story } }: HealthProps): ReactNode {
  const { health: words } = useWords(channelWords);
  return (
    <Panel title={words.story} className="lg:col-span-2">
      {story.length === 0 ? (
        <p className="text-table text-muted">{words.noStory}</p>
      ) : (
        <ol className="flex flex-col gap-2 text-table">
          {story.map((turn) => (
            <li key={`${turn.at} ${turn.values['node']}`} className="flex flex-wrap gap-x-3">
              <span className="text-muted">
                <Time at={turn.at} />
              </span>
              <span className="min-w-0">
                <TurnReason turn={turn} />
              </span>
              <span className="text-caption text-muted">
                {words.node(turn.values['node'] ?? '')}
              </span>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

function TurnReason({
  turn: { code, values },
}: {
  readonly turn: ChannelHealth['story'][number];
}): ReactNode {
  const { health: words } = useWords(channelWords);
  const { faults } = useWords(operatorWords);
  const { why: known, until = null } = values;
  const why = known === undefined ? words.noWhy : (faults[known] ?? known);
  if (code === 'cooling')
    return <Rich text={words.sentences.cooling('{until}', why)} until={<Time at={until} />} />;
  if (code === 'degraded') return words.sentences.degraded(why);
  if (code === 'parked') return words.sentences.parked(why);
  return words.sentences.healthy;
}
