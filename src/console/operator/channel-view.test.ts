import { expect, test } from 'vitest';
import type { StoredChannel } from '../../catalog/stored-catalog.ts';
import type { ChannelReport } from '../../gateway/reports/report.ts';
import { channelView } from './channel-view.ts';

const channel: StoredChannel = {
  name: 'ark',
  vendor: 'v',
  baseUrl: undefined,
  secret: undefined,
  groups: [],
  priority: 0,
  weight: 1,
  models: new Map(),
  revision: 1,
  state: 'active',
  changedAt: 0,
  costs: new Map(),
  origin: 'console',
  version: 1,
};

function stateWith(changed: Partial<ChannelReport>, tried = true): string {
  const healthy = { state: 'healthy', why: undefined, since: 0, until: undefined, running: 0 };
  return channelView(channel, {
    catalog: { groups: [], models: [], channels: [channel] },
    vendors: new Map(),
    reports: [
      {
        ...{ node: 'a', at: 0, openStreams: 0, databaseMs: 0 },
        recent: { requests: 0, errors: 0, firsts: [] },
        channels: { ark: { ...healthy, state: 'healthy', ...changed } },
      },
    ],
    endings: new Map(),
    counts: [],
    tasks: new Map(),
    costs: new Map(),
    overruns: new Map(tried ? [['ark', 0]] : []),
    losses: new Map(),
  }).state;
}

test('a channel fails when more than half of at least five attempts of the last minutes failed', () => {
  const after = (attempts: number, failed: number) => stateWith({ recent: { attempts, failed } });
  expect([after(5, 5), after(5, 3), after(27, 27)]).toEqual(['failing', 'failing', 'failing']);
  expect([after(4, 4), after(6, 3), after(0, 0)]).toEqual(['healthy', 'healthy', 'healthy']);
  expect(stateWith({})).toBe('healthy');
});

test('a channel that nobody called within a day is not called healthy', () => {
  expect(stateWith({}, false)).toBe('untried');
  expect(stateWith({ running: 1 }, false)).toBe('healthy');
  expect(stateWith({ recent: { attempts: 1, failed: 0 } }, false)).toBe('healthy');
  expect(stateWith({ recent: { attempts: 5, failed: 5 } }, false)).toBe('failing');
  expect(stateWith({ state: 'cooling' }, false)).toBe('cooling');
});

test('what routing knows of a channel comes before what is counted', () => {
  expect(stateWith({ state: 'parked', recent: { attempts: 9, failed: 9 } })).toBe('parked');
});
