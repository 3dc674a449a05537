import { deleteOldest } from '../../base/delete-oldest.ts';
import { type Channel, channelId, type Snapshot, withEachKey } from '../../catalog/snapshot.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import type { Resealer, Sealer } from '../../storage/seal.ts';
import { optionalText, textColumn } from '../../storage/sql.ts';
import type { OpenChannel, OpenChannels } from '../channels/open-channels.ts';
import { channelNameOf } from './task.ts';

const secretPurpose = 'task-channel';
/**
 * The most remembered channels that the catalog no longer has; the oldest entry is forgotten
 * first.
 */
const rememberedMax = 1_000;

/** Seals the secrets anew that the master key before has sealed; returns how many. */
export function resealTaskChannels(database: Database, resealer: Resealer): Promise<number> {
  return database.transact(function* (): Transaction<number> {
    let resealed = 0;
    const rows = yield {
      sql: 'SELECT id, secret FROM task_channel WHERE secret IS NOT NULL',
      params: [],
    };
    for (const row of rows) {
      const secret = resealer.reseal(secretPurpose, textColumn(row, 'secret'));
      if (secret === undefined) continue;
      yield {
        sql: 'UPDATE task_channel SET secret=$2 WHERE id=$1',
        params: [textColumn(row, 'id'), secret],
      };
      resealed++;
    }
    return resealed;
  });
}

/**
 * Channels as they were when tasks were submitted: a task is polled at the vendor that took it, at
 * the same URL and with the same key.
 */
export class TaskChannels {
  readonly #database: Database;
  readonly #sealer: Sealer;
  readonly #openChannels: OpenChannels;
  readonly #catalog: () => Snapshot;
  readonly #written = new Set<string>();
  readonly #gone = new Map<string, Channel>();

  constructor(
    database: Database,
    sealer: Sealer,
    openChannels: OpenChannels,
    catalog: () => Snapshot,
  ) {
    this.#database = database;
    this.#sealer = sealer;
    this.#openChannels = openChannels;
    this.#catalog = catalog;
  }

  /** Stores the channel as it is now, before a task refers to it. */
  async write(channel: Channel): Promise<void> {
    const id = channelId(channel);
    if (this.#written.has(id)) return;
    const secret =
      channel.secret === undefined ? null : this.#sealer.seal(secretPurpose, channel.secret);
    await this.#database.query(
      'INSERT INTO task_channel (id, name, vendor, base_url, secret) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO NOTHING',
      [id, channel.name, channel.vendor, channel.baseUrl ?? null, secret],
    );
    this.#written.add(id);
  }

  /**
   * Throws when the database is away, when the channel's secret cannot be opened, or when its
   * vendor no longer exists.
   */
  async openChannel(id: string): Promise<OpenChannel> {
    const known = this.#gone.get(id) ?? this.#sold(id);
    if (known !== undefined) return this.#openChannels.of(known);
    const [row] = await this.#database.query(
      'SELECT vendor, base_url, secret FROM task_channel WHERE id=$1',
      [id],
    );
    if (row === undefined) throw new Error(`there is no channel ${id}`);
    const { secret } = row;
    const channel: Channel = {
      name: id,
      vendor: String(row['vendor']),
      baseUrl: optionalText(row, 'base_url'),
      secret: typeof secret === 'string' ? this.#sealer.unseal(secretPurpose, secret) : undefined,
      groups: [],
      priority: 0,
      weight: 0,
      models: new Map(),
      revision: 0,
    };
    this.#gone.set(id, channel);
    if (this.#gone.size > rememberedMax) deleteOldest(this.#gone);
    return this.#openChannels.of(channel);
  }

  /** The channel in the catalog, if it is still sold unchanged. */
  #sold(id: string): Channel | undefined {
    const channel = this.#catalog().channels.get(channelNameOf(id));
    return channel && withEachKey(channel).find((keyed) => channelId(keyed) === id);
  }
}
