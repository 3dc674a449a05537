import { createHash } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { randomText } from '../base/random.ts';
import type { Database } from '../storage/database.ts';
import type { Sealer } from '../storage/seal.ts';
import { contentType } from './content-type.ts';
import type { FileUrls } from './file-urls.ts';
import { type Files, isNotStored, type NotStored } from './files.ts';
import type { UploadLimits } from './limits.ts';
import { removeExpired } from './remove-expired.ts';
import { insertUpload, readUploadRow, updateUpload, type Upload } from './upload-table.ts';

export interface UploadParts {
  readonly database: Database;
  readonly files: Files;
  readonly clock: Clock;
  readonly addresses: Pick<FileUrls, 'base'>;
  readonly sealer: Pick<Sealer, 'seal' | 'unseal'>;
  readonly limits: UploadLimits;
}

/** What a client says of a file before it sends it. */
export type NewUpload = Pick<Upload, 'account' | 'displayName' | 'type' | 'declared'>;

const passPurpose = 'addresses of uploads';

/**
 * Files that clients upload in pieces. Each piece is a stored file, so that any process can take
 * the next one and the account's limits of files and bytes hold; the upload names its pieces.
 */
export class Uploads {
  readonly limits: UploadLimits;
  readonly #parts: UploadParts;

  constructor(parts: UploadParts) {
    this.#parts = parts;
    this.limits = parts.limits;
  }

  /** Undefined: too many uploads of this account have not ended. */
  async begin(upload: NewUpload): Promise<Upload | undefined> {
    const { database, clock } = this.#parts;
    const now = clock.now();
    const begun: Upload = {
      ...upload,
      id: randomText(32).toLowerCase(),
      bytes: 0,
      pieces: [],
      sha256: undefined,
      createdAt: now,
      updatedAt: now,
      expiresAt: now + this.limits.idleMs,
    };
    const has = await database.transact(() => insertUpload(begun, this.limits.underWayMax));
    return has ? begun : undefined;
  }

  /**
   * The API key that begins an upload, sealed for the address of this upload: clients may send no
   * key with the bytes (google-genai 3 for Python, AI SDK's package for Google, 2026-11).
   */
  passFor({ id }: Pick<Upload, 'id'>, secret: string): string {
    return this.#parts.sealer.seal(passPurpose, `${id} ${secret}`);
  }

  /** The API key in the pass of this upload; undefined: the pass is another one's, or none. */
  keyIn(id: string, pass: string): string | undefined {
    let text: string;
    try {
      text = this.#parts.sealer.unseal(passPurpose, pass);
    } catch {
      // Anybody may write a pass: one that was not sealed here is as good as none.
      return undefined;
    }
    return text.startsWith(`${id} `) ? text.slice(id.length + 1) : undefined;
  }

  /** Adds bytes. `overtaken`: another request added some meanwhile, or removed the upload. */
  async append(upload: Upload, bytes: Buffer): Promise<Upload | NotStored | 'overtaken'> {
    const { database, files, clock } = this.#parts;
    const { account, createdAt } = upload;
    const endsAt = createdAt + this.limits.keptMs;
    const piece = await files.put(bytes, { account, kind: 'piece', expiresAt: endsAt });
    if (isNotStored(piece)) return piece;
    const now = clock.now();
    const after: Upload = {
      ...upload,
      bytes: upload.bytes + bytes.length,
      pieces: [...upload.pieces, piece.id],
      updatedAt: now,
      expiresAt: Math.min(now + this.limits.idleMs, endsAt),
    };
    if (await database.transact(() => updateUpload(upload, after))) return after;
    await files.remove(account, piece.id);
    return 'overtaken';
  }

  /** Ends the upload. `no type`: the client named none, and the bytes show none. */
  async finish(upload: Upload): Promise<Upload | 'overtaken' | 'no type' | 'not here'> {
    const bytes = await this.read(upload);
    if (bytes === 'not here') return bytes;
    if (bytes === 'gone') return 'overtaken';
    const type = upload.type ?? contentType(bytes, upload.displayName);
    if (type === undefined) return 'no type';
    const after: Upload = {
      ...upload,
      type,
      sha256: createHash('sha256').update(bytes).digest('base64'),
      updatedAt: this.#parts.clock.now(),
      expiresAt: upload.createdAt + this.limits.keptMs,
    };
    const ended = await this.#parts.database.transact(() => updateUpload(upload, after));
    return ended ? after : 'overtaken';
  }

  /** The upload of this account, ended or not; undefined also when it is another account's. */
  async find(account: string, id: string): Promise<Upload | undefined> {
    const { database, clock } = this.#parts;
    const sql = 'SELECT * FROM upload WHERE id=$1 AND account=$2 AND expires_at>$3';
    const [row] = await database.query(sql, [id, account, clock.now()]);
    return row && readUploadRow(row);
  }

  /** Files whose upload has ended, the newest first, after the one that `after` names. */
  async list(
    account: string,
    count: number,
    after?: Pick<Upload, 'createdAt' | 'id'>,
  ): Promise<readonly Upload[]> {
    const { database, clock } = this.#parts;
    const rows = await database.query(
      `SELECT * FROM upload WHERE account=$1 AND sha256 IS NOT NULL AND expires_at>$2
        AND (created_at<$3 OR (created_at=$3 AND id<$4))
        ORDER BY created_at DESC, id DESC LIMIT $5`,
      [account, clock.now(), after?.createdAt ?? Number.MAX_SAFE_INTEGER, after?.id ?? '', count],
    );
    return rows.map(readUploadRow);
  }

  /**
   * All bytes received. `gone`: the file was removed meanwhile. `not here`: the storage lacks bytes
   * that the database knows, as where nodes do not share a storage.
   */
  async read({ account, pieces }: Upload): Promise<Buffer | 'gone' | 'not here'> {
    const { files } = this.#parts;
    const read: Buffer[] = [];
    for (const id of pieces) {
      const piece = await files.find(account, id);
      if (piece === undefined) return 'gone';
      const stream = await files.read(piece, { first: 0, last: piece.bytes - 1 });
      if (stream === undefined) return 'not here';
      for await (const bytes of stream) read.push(bytes);
    }
    return Buffer.concat(read);
  }

  /**
   * The pieces go first: a piece that is left behind is named by its upload. False: it was gone.
   */
  async remove({ id, account, pieces }: Upload): Promise<boolean> {
    const { database, files } = this.#parts;
    for (const piece of pieces) await files.remove(account, piece);
    const sql = 'DELETE FROM upload WHERE id=$1 RETURNING id';
    return (await database.query(sql, [id])).length > 0;
  }

  /** An absolute address at this gateway. `host`: the Host header, where no public one is set. */
  addressOf(path: string, host: string | undefined): string {
    return this.#parts.addresses.base(host) + path;
  }

  /**
   * Removes expired files and uploads given up; returns their number. Rejects at the end where some
   * cannot be removed. `stopped` ends it before the next few.
   */
  expire(stopped: () => boolean = () => false): Promise<number> {
    const { database, clock } = this.#parts;
    const sql = 'SELECT * FROM upload WHERE expires_at<=$1 ORDER BY expires_at LIMIT $2';
    return removeExpired(
      async (count) => (await database.query(sql, [clock.now(), count])).map(readUploadRow),
      (upload) => this.remove(upload),
      stopped,
    );
  }
}
