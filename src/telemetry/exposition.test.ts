import { expect, test } from 'vitest';
import { mergeMetricsPages } from './exposition.ts';

const page = (
  requests: number,
  streams: number,
  bucket: number,
): string => `# HELP requests_total Requests
# TYPE requests_total counter
requests_total{model="a b"} ${requests}
# HELP streams Open streams
# TYPE streams gauge
streams ${streams}
streams{of="x"} 1
# HELP wait_seconds Time
# TYPE wait_seconds histogram
wait_seconds_bucket{le="+Inf"} ${bucket}
wait_seconds_sum 0.5
wait_seconds_count ${bucket}
`;

test('counters and histograms of several processes add up, gauges say whose they are', () => {
  const merged = mergeMetricsPages(
    new Map([
      ['1', page(3, 5, 2)],
      ['2', page(4, 6, 7)],
    ]),
  );
  expect(merged).toBe(`# HELP requests_total Requests
# TYPE requests_total counter
requests_total{model="a b"} 7
# HELP streams Open streams
# TYPE streams gauge
streams{worker="1"} 5
streams{of="x",worker="1"} 1
streams{worker="2"} 6
streams{of="x",worker="2"} 1
# HELP wait_seconds Time
# TYPE wait_seconds histogram
wait_seconds_bucket{le="+Inf"} 9
wait_seconds_sum 1
wait_seconds_count 9
`);
});

test('a process that has ended counts, and has no gauges', () => {
  const ended = mergeMetricsPages(new Map(), [page(3, 5, 2), page(1, 8, 1)]);
  expect(ended).not.toContain('streams');
  const merged = mergeMetricsPages(new Map([['3', page(4, 6, 7)]]), [ended]);
  expect(merged).toContain('\nrequests_total{model="a b"} 8\n');
  expect(merged).toContain('\nstreams{worker="3"} 6\nstreams{of="x",worker="3"} 1\n#');
  expect(merged).toContain('\nwait_seconds_count 10\n');
});
