import { expect, test } from 'vitest';
import {
  type AccessLine,
  RequestMetrics,
  answerTimeRange,
  DurationHistogram,
} from './request-metrics.ts';
import { expositionText, labelText } from './exposition.ts';

const line = (changed: Partial<AccessLine> = {}): AccessLine => ({
  ...{
    id: 'req_1',
    userId: 'u',
    keyId: 'k',
    model: 'm',
    group: 'default',
    channel: 'ark',
    stream: true,
    status: 200,
    outcome: 'ok',
  },
  ...{
    attempts: 1,
    inputTokens: 3,
    outputTokens: 5,
    cost: '2000000000',
    firstByteMs: 40,
    durationMs: 900,
    vendorMs: 890,
    beforeMs: 2,
  },
  ...changed,
});

test('how a request ended is told by model, channel and outcome, its money and tokens by model', () => {
  const requests = new RequestMetrics();
  requests.finished(line());
  requests.finished(
    line({
      outcome: 'fault:overloaded',
      status: 503,
      attempts: 3,
      cost: '0',
      inputTokens: 0,
      outputTokens: 0,
    }),
  );
  const { channel: _, ...nowhere } = line({ outcome: 'left', status: 499, cost: '0' });
  requests.finished({ ...nowhere, channel: undefined });
  requests.charged('film', '500000000');
  const page = expositionText(requests.families());
  for (const sample of [
    'tollgate_requests_total{model="m",channel="ark",outcome="ok"} 1',
    'tollgate_requests_total{model="m",channel="ark",outcome="fault:overloaded"} 1',
    'tollgate_requests_total{model="m",channel="",outcome="left"} 1',
    'tollgate_charged_yuan_total{model="m"} 2',
    'tollgate_charged_yuan_total{model="film"} 0.5',
    'tollgate_tokens_total{model="m",direction="output"} 10',
    'tollgate_retries_total{model="m"} 2',
    'tollgate_overhead_seconds_bucket{le="0.01"} 3',
    'tollgate_before_vendor_seconds_sum 0.006',
    'tollgate_after_vendor_seconds_sum 0.024',
  ])
    expect(page).toContain(`${sample}\n`);
  expect(requests.channels()).toEqual([
    { channel: 'ark', ok: 1, failed: 1, all: 2 },
    { channel: '', ok: 0, failed: 0, all: 1 },
  ]);
});

test('durations are told in classes, of which each holds all that were shorter', () => {
  const durations = new DurationHistogram(answerTimeRange);
  for (const ms of [0, 5, 10, 10.1, 99, 1_000, 1e12]) durations.observe(ms);
  const samples = durations.samples('x', 'model="a"');
  const counts = [...samples.matchAll(/le="([^"]+)",model="a"\} (\d+)/g)].map(
    ([, bound, count]) => [bound, Number(count)],
  );
  expect(counts[0]).toEqual(['0.01', 3]);
  expect(counts).toContainEqual(['0.1', 5]);
  expect(counts).toContainEqual(['1', 6]);
  expect(counts.at(-1)).toEqual(['+Inf', 7]);
  expect(samples).toContain('x_count{model="a"} 7\n');
  expect(new DurationHistogram(answerTimeRange).samples('x', '')).toContain(
    'x_bucket{le="+Inf"} 0\nx_sum 0\nx_count 0\n',
  );
});

test('a name can hold whatever a catalog can', () => {
  expect(labelText({ model: 'a"b\\c\nd' })).toBe('model="a\\"b\\\\c\\nd"');
});
