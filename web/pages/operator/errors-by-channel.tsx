import type { ReactNode } from 'react';
import type { ErrorHour, OperatorOverview } from '../../../src/console/contract.ts';
import { Chart } from '../../components/chart.tsx';
import { Panel } from '../../components/page.tsx';
import { useZone } from '../../components/time.tsx';
import { axisCount, formatCount } from '../../format/count.ts';
import { formatClock } from '../../format/time.ts';
import { operatorWords, sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';

const seriesMax = 6;
type Of = OperatorOverview['errors'][number];

/** Which channel errs, and when. */
export function ErrorsByChannel({ errors }: Pick<OperatorOverview, 'errors'>): ReactNode {
  const { overview: words } = useWords(operatorWords);
  const { chart } = useWords(sharedWords);
  const zone = useZone();
  const ranked = errors
    .toSorted((a, b) => sumOf(b, 'errors') - sumOf(a, 'errors'))
    .filter((each) => sumOf(each, 'errors') > 0);
  const requests = errors.reduce((sum, each) => sum + sumOf(each, 'requests'), 0);
  const all = ranked.reduce((sum, each) => sum + sumOf(each, 'errors'), 0);
  const hours = errors[0]?.hours ?? [];
  const text = (hour: ErrorHour) =>
    words.errorsOf(formatCount(hour.errors), formatCount(hour.requests));
  const shown =
    ranked.length > seriesMax + 1
      ? [...ranked.slice(0, seriesMax), together(ranked.slice(seriesMax), hours)]
      : ranked;
  return (
    <Panel title={words.errors}>
      {all === 0 ? (
        <p className="text-table text-muted">{words.noErrors(formatCount(requests))}</p>
      ) : (
        <Chart
          kind="stacked"
          lastIsOpen
          labels={hours.map(({ hour }) => formatClock(hour, zone))}
          labelHeader={words.hour}
          summary={words.errorsSummary(
            formatCount(all),
            formatCount(requests),
            ranked[0]?.channel ?? '',
          )}
          series={shown.map(({ channel, hours: its }) => ({
            id: channel,
            name: channel === '' ? chart.other : channel,
            values: its.map((hour) => hour.errors),
            texts: its.map(text),
            ...(channel === '' && { colour: 'other' as const }),
          }))}
          totals={hours.map(({ hour }) => text(atHour(errors, hour)))}
          axis={axisCount}
        />
      )}
    </Panel>
  );
}

function sumOf({ hours }: Of, what: 'errors' | 'requests'): number {
  return hours.reduce((sum, hour) => sum + hour[what], 0);
}

function atHour(channels: readonly Of[], at: string): ErrorHour {
  const same = channels.flatMap(({ hours }) => hours.filter(({ hour }) => hour === at));
  const sum = (what: 'errors' | 'requests') => same.reduce((all, hour) => all + hour[what], 0);
  return { hour: at, errors: sum('errors'), requests: sum('requests') };
}

function together(channels: readonly Of[], hours: readonly ErrorHour[]): Of {
  return { channel: '', hours: hours.map(({ hour }) => atHour(channels, hour)) };
}
