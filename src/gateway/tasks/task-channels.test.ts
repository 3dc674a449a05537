import { expect, test } from 'vitest';
import { forEachDatabase } from '../../../test/databases.ts';
import { type Channel, channelId, withEachKey } from '../../catalog/snapshot.ts';
import { buildSnapshot } from '../../catalog/build-snapshot.ts';
import { migrations } from '../../app/schema.ts';
import { vendors } from '../../providers/index.ts';
import { openSealer } from '../../storage/seal.ts';
import { OpenChannels } from '../channels/open-channels.ts';
import { TaskChannels } from './task-channels.ts';

const channel: Channel = {
  name: 'films',
  vendor: 'openai',
  baseUrl: 'http://127.0.0.1:1/v1',
  secret: 'key-one',
  moreSecrets: ['key-two', 'key-three'],
  groups: ['default'],
  priority: 0,
  weight: 1,
  models: new Map(),
  revision: 3,
};

forEachDatabase((_name, openFresh) => {
  test('a task is asked for with the key that it was submitted with, also when the channel has other keys by then', async () => {
    const database = await openFresh({ migrations });
    const sealer = openSealer(Buffer.alloc(32, 1));
    const openChannels = new OpenChannels(vendors, {
      now: () => 0,
      post: () => Promise.reject(new Error('nobody is asked')),
    });
    let channels: readonly Channel[] = [channel];
    const catalog = () =>
      buildSnapshot({ version: '1', groups: [], models: [], channels }, () => true);
    const taskChannels = new TaskChannels(database, sealer, openChannels, catalog);
    const ids = withEachKey(channel).map(channelId);
    expect(ids).toEqual(['films@3', 'films@3#2', 'films@3#3']);
    for (const keyed of withEachKey(channel)) await taskChannels.write(keyed);
    const secrets = async (): Promise<readonly unknown[]> =>
      Promise.all(ids.map(async (id) => (await taskChannels.openChannel(id)).secret));
    expect(await secrets()).toEqual(['key-one', 'key-two', 'key-three']);
    channels = [{ ...channel, secret: 'key-four', moreSecrets: ['key-five'], revision: 4 }];
    openChannels.keepOnly(catalog());
    expect(await secrets()).toEqual(['key-one', 'key-two', 'key-three']);
    expect(openChannels.running(channel)).toBe(0);
    await openChannels.close();
  });
});
