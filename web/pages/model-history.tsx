import { type ReactNode, useState } from 'react';
import type { ModelDetail, ModelSpeed } from '../../src/console/contract.ts';
import { Chart } from '../components/chart.tsx';
import { Panel } from '../components/page.tsx';
import { Segments } from '../components/segments.tsx';
import { useZone } from '../components/time.tsx';
import { formatCount, formatShare } from '../format/count.ts';
import { formatClock, formatDay, formatDuration } from '../format/time.ts';
import { modelsWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { speedTexts } from './model-facts.tsx';

type Measured = 'first' | 'pace' | 'uptime';

const valueOf: Readonly<Record<Measured, (speed: ModelSpeed) => number | null>> = {
  first: (speed) => speed.first_byte_median_ms,
  pace: (speed) => speed.output_per_second,
  uptime: (speed) => speed.success_share * 100,
};

const textOf = {
  first: formatDuration,
  pace: (tokens: number) => formatCount(tokens),
  uptime: (percent: number) => formatShare(percent / 100),
} satisfies Readonly<Record<Measured, (value: number) => string>>;

/** First byte, tokens per second and uptime over the last seven days, one at a time. */
export function SpeedHistory({ model }: { readonly model: ModelDetail }): ReactNode {
  const words = useWords(modelsWords);
  const zone = useZone();
  const { history } = model;
  const offered = (['first', 'pace', 'uptime'] as const).filter((name) =>
    history.points.some(({ speed }) => speed !== null && valueOf[name](speed) !== null),
  );
  const [chosen, setChosen] = useState<Measured>('first');
  const shown = offered.includes(chosen) ? chosen : (offered[0] ?? 'uptime');
  const values = history.points.map(({ speed }) => speed && valueOf[shown](speed));
  const { first, uptime } = speedTexts(words, model);
  const { unknown } = words.history;
  return (
    <Panel
      title={words.history.title}
      actions={
        offered.length > 1 && (
          <Segments
            label={words.history.title}
            value={shown}
            onChange={setChosen}
            options={offered.map((name) => [name, words.speed[name]] as const)}
          />
        )
      }
    >
      {offered.length === 0 ? (
        <p className="text-table text-muted">{words.history.none}</p>
      ) : (
        <div className="flex flex-col gap-2">
          <p className="text-caption text-muted">{words.history.note(history.hours)}</p>
          <Chart
            key={shown}
            kind="lines"
            labels={history.points.map(
              ({ at }) => `${formatDay(at, zone).slice(5)} ${formatClock(at, zone)}`,
            )}
            labelHeader={words.history.hour}
            summary={words.history.summary(first ?? unknown, uptime ?? unknown)}
            series={[
              {
                id: shown,
                name: words.speed[shown],
                values,
                texts: values.map((value) => (value === null ? '—' : textOf[shown](value))),
              },
            ]}
            marks={values.flatMap((value, index) => (value === null ? [] : [index]))}
            axis={textOf[shown]}
          />
        </div>
      )}
    </Panel>
  );
}
