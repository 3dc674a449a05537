import { describe, expect, it } from 'vitest';
import { buildSnapshot, type Catalog } from './build-snapshot.ts';
import { costOf } from './price.ts';
import type { Channel, Group, Model, ModelKind } from './snapshot.ts';

const group = (name: string, multiplierPpm = 1_000_000n): Group => ({
  name,
  multiplierPpm,
  limits: { rpm: undefined, tpm: undefined, concurrency: undefined },
});

const model = (id: string, kind: ModelKind = 'chat'): Model => ({
  id,
  ownedBy: 'o',
  kind,
  created: 1,
  context: undefined,
  outputTokensMax: undefined,
  modalities: undefined,
  topSpeed: undefined,
  durations: undefined,
  shutdownDate: undefined,
  price: { rates: { input: 1_000_000_000n, output: 2_000_000_000n }, tiers: [], by: undefined },
});

const channel = (
  name: string,
  groups: readonly string[],
  models: Readonly<Record<string, string>>,
  changed: Partial<Channel> = {},
): Channel => ({
  name,
  vendor: 'acme',
  baseUrl: undefined,
  secret: undefined,
  groups,
  priority: 0,
  weight: 1,
  models: new Map(Object.entries(models)),
  revision: 1,
  ...changed,
});

const catalog: Catalog = {
  version: '7',
  groups: [group('default'), group('cheap', 500_000n), group('empty')],
  models: [model('z/1'), model('a'), model('film', 'video'), model('unsold')],
  channels: [
    channel('second', ['default'], { a: 'up-a' }, { priority: 5 }),
    channel(
      'first',
      ['default', 'cheap'],
      { a: 'a', 'z/1': 'zz', film: 'f', gone: 'g' },
      { revision: 3, weight: 2 },
    ),
  ],
};

describe('buildSnapshot', () => {
  const snapshot = buildSnapshot(catalog, (_, kind) => kind === 'chat');

  it('offers a group the models that one of its channels serves, best channel first', () => {
    expect(snapshot.offer('default', 'a')?.candidates).toMatchObject([
      { id: 'first@3', priority: 0, weight: 2, upstreamModel: 'a' },
      { id: 'second@1', priority: 5, weight: 1, upstreamModel: 'up-a' },
    ]);
    expect(
      snapshot.offer('cheap', 'a')?.candidates.map((candidate) => candidate.channel.name),
    ).toEqual(['first']);
    expect(snapshot.offer('default', 'z/1')?.candidates[0]?.upstreamModel).toBe('zz');
  });

  it('neither finds nor lists what nobody serves the group', () => {
    for (const [name, id] of [
      ['default', 'unsold'],
      ['default', 'film'],
      ['default', 'gone'],
      ['empty', 'a'],
      ['nowhere', 'a'],
    ] as const)
      expect(snapshot.offer(name, id), `${name} ${id}`).toBeUndefined();
    expect(snapshot.listing('default').map((each) => each.id)).toEqual(['a', 'z/1']);
    expect(snapshot.listing('empty')).toEqual([]);
    expect(snapshot.listing('nowhere')).toEqual([]);
  });

  it('prices each offer by its group', () => {
    const price = (name: string) => {
      const offer = snapshot.offer(name, 'a');
      return offer && costOf(offer.tariff, { input: 10, output: 1 }).total;
    };
    expect([price('default'), price('cheap')]).toEqual([12_000n, 6_000n]);
  });

  it('finds the same offer again, without making anything', () => {
    expect(snapshot.offer('default', 'a')).toBe(snapshot.offer('default', 'a'));
    expect(snapshot.version).toBe('7');
  });
});
