import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openGateway } from '../src/app/gateway.ts';
import { backup } from '../src/storage/backup.ts';
import { open } from '../src/storage/open.ts';
import { forEachDatabase, onSqlite, sqliteUrl } from './databases.ts';
import { quietOptions } from './support/running.ts';

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-ledger-id-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a gateway and stops it again; what it throws is why it does not start. */
async function startAt(
  dataFolder: string,
  databaseUrl: string,
  acceptDatabase = false,
): Promise<void> {
  const options = await quietOptions({
    databaseUrl,
    configuration: '',
    media: join(dataFolder, 'media'),
  });
  const gateway = await openGateway({ ...options, dataFolder, acceptDatabase });
  await gateway.close();
}

async function tablesAt(url: string): Promise<readonly unknown[]> {
  const database = await open(url);
  const tables = await database.query("SELECT name FROM sqlite_master WHERE type = 'table'");
  await database.close();
  return tables;
}

forEachDatabase((name, _openFresh, fresh) => {
  test('R7: a data folder serves its own ledger, and another one only when it is accepted', async () => {
    const [folder, mine, other] = [await newFolder(), await fresh(), await fresh()];
    await startAt(folder, mine.url);
    await startAt(folder, mine.url);
    await expect(startAt(folder, other.url)).rejects.toThrow(
      name === 'sqlite'
        ? /^there is no database .*--accept-database/
        : /^the database has no ledger id: .*--accept-database/,
    );
    // In a folder of its own any database starts, and that makes it a ledger.
    await startAt(await newFolder(), other.url);
    await expect(startAt(folder, other.url)).rejects.toThrow(
      /^the database is another ledger, \w{32}, and .*ledger\.id says .* belongs to ledger \w{32}\. /,
    );
    await startAt(folder, mine.url);
    await startAt(folder, other.url, true);
    await startAt(folder, other.url);
    await expect(startAt(folder, mine.url)).rejects.toThrow(/another ledger/);
  });

  test('R7: a data folder and a database of a version without ids start, and have one from then on', async () => {
    const [folder, mine] = [await newFolder(), await fresh()];
    await startAt(await newFolder(), mine.url);
    const database = await mine.open();
    await database.query('DROP TABLE ledger_id');
    await database.query("DELETE FROM migration WHERE id = '0037-ledger-id'");
    await database.close();
    await writeFile(join(folder, 'master.key'), 'kept from before');
    await startAt(folder, mine.url);
    expect(await readFile(join(folder, 'ledger.id'), 'utf8')).toMatch(/^\w{32}\n$/);
    await startAt(folder, mine.url);
  });
});

onSqlite((_name, _openFresh, fresh) => {
  test('R7: a missing, an empty and a foreign file do not start, and stay as they are', async () => {
    const [folder, mine, foreign] = [await newFolder(), await fresh(), await fresh()];
    await startAt(folder, mine.url);
    const path = mine.url.slice('sqlite:'.length);
    const lose = () =>
      Promise.all(['', '-wal', '-shm'].map((end) => rm(path + end, { force: true })));
    await lose();
    await expect(startAt(folder, mine.url)).rejects.toThrow(`there is no database ${path}, and`);
    await expect(readFile(path)).rejects.toThrow('ENOENT');
    await writeFile(path, '');
    await expect(startAt(folder, mine.url)).rejects.toThrow(`the database ${path} is empty, and`);
    expect(await readFile(path)).toHaveLength(0);
    const database = await foreign.open();
    await database.query('CREATE TABLE somebody_elses (id TEXT)');
    await database.query('PRAGMA wal_checkpoint(TRUNCATE)');
    await database.close();
    await copyFile(foreign.url.slice('sqlite:'.length), path);
    await expect(startAt(folder, mine.url)).rejects.toThrow('the database has no ledger id');
    expect(await tablesAt(mine.url)).toEqual([{ name: 'somebody_elses' }]);
  });

  test('R7: a backup starts where the database was, and in a folder of its own', async () => {
    const [folder, url] = [await newFolder(), await sqliteUrl()];
    await startAt(folder, url);
    const path = url.slice('sqlite:'.length);
    const database = await open(url);
    await backup(database, join(folder, 'copy'));
    await database.close();
    await Promise.all(['', '-wal', '-shm'].map((end) => rm(path + end, { force: true })));
    await expect(startAt(folder, url)).rejects.toThrow('there is no database');
    await copyFile(join(folder, 'copy'), path);
    await startAt(folder, url);
    const elsewhere = await newFolder();
    await copyFile(join(folder, 'copy'), join(elsewhere, 'tollgate.db'));
    await startAt(elsewhere, `sqlite:${join(elsewhere, 'tollgate.db')}`);
  });
});
