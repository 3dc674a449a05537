import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type GatewayOptions, openGateway } from '../src/app/gateway.ts';
import { migrations } from '../src/app/schema.ts';
import { openSealer } from '../src/storage/seal.ts';
import { forEachDatabase } from './databases.ts';
import { masterKey, oneModel, quietOptions } from './support/running.ts';

forEachDatabase((_name, _openFresh, fresh) => {
  async function installed() {
    const media = await mkdtemp(join(tmpdir(), 'tollgate-master-key-'));
    onTestFinished(() => rm(media, { recursive: true, force: true }));
    const { url, open } = await fresh(migrations);
    const configuration = oneModel('http://127.0.0.1:9').replace(
      'api_key: up-key',
      'api_keys: [key-one, key-two]',
    );
    const options = await quietOptions({ databaseUrl: url, media, configuration });
    /** Starts a gateway, stops it again, and returns the keys of its channels. */
    const keys = async (changed: Partial<GatewayOptions>) => {
      const gateway = await openGateway({ ...options, ...changed });
      const { channels } = gateway.parts.catalog();
      await gateway.close();
      return {
        resealed: gateway.resealed,
        keys: [...channels.values()].flatMap(({ secret, moreSecrets = [] }) => [
          secret,
          ...moreSecrets,
        ]),
      };
    };
    return { keys, database: await open() };
  }

  test('what the old master key has sealed is sealed anew at a start with both, and the old one is needed no more', async () => {
    const { keys, database } = await installed();
    const all = ['key-one', 'key-two', 'up-key'];
    expect(await keys({})).toEqual({ resealed: 0, keys: all });
    // As the console makes them: no configuration has their keys.
    await database.query("UPDATE channels SET origin='console'");
    await database.query(
      "INSERT INTO task_channel (id, name, vendor, secret) VALUES ('a@1', 'a', 'openai', $1)",
      [openSealer(masterKey).seal('task-channel', 'key-one')],
    );
    const renewed = { masterKey: randomBytes(32), configuration: undefined };
    const both = { ...renewed, oldMasterKey: masterKey };
    expect(await keys(both)).toEqual({ resealed: 3, keys: all });
    expect(await keys(both)).toEqual({ resealed: 0, keys: all });
    expect(await keys(renewed)).toEqual({ resealed: 0, keys: all });
    const [task] = await database.query('SELECT secret FROM task_channel');
    const opened = openSealer(renewed.masterKey).unseal('task-channel', String(task?.['secret']));
    expect(opened).toBe('key-one');
    // Both are lost: a configuration that names the channels brings their keys.
    expect(await keys({ masterKey: randomBytes(32) })).toEqual({ resealed: 0, keys: all });
  });
});
