import { expect, test } from 'vitest';
import type { ChannelView } from '../../../src/console/contract.ts';
import { planFor } from './channel-test-plan.ts';

test('every channel is tested, or skipped for a reason of its own', () => {
  const model = (id: string, capability: string, priced = true) =>
    ({ id, priced, capabilities: [capability] }) as unknown as ChannelView['models'][number];
  const channel = (
    name: string,
    state: ChannelView['state'],
    ...models: ChannelView['models']
  ) => ({
    name,
    state,
    models,
  });
  const plan = planFor([
    channel('chats', 'healthy', model('free', 'chat', false), model('gpt', 'chat')),
    channel('paints', 'untried', model('dall', 'image_edits')),
    channel('unpriced', 'parked', model('free', 'chat', false)),
    channel('drains', 'draining', model('gpt', 'chat')),
    channel('off', 'disabled', model('dall', 'image_edits')),
  ]);
  expect(plan).toEqual({
    tests: [{ name: 'chats', capability: 'chat', model: 'gpt' }],
    off: ['drains', 'off'],
    untestable: ['paints', 'unpriced'],
  });
});
