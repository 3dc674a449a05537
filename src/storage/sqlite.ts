import type { Statement } from './database.ts';
import type { Engine, Mode, Result, Session } from './engine.ts';
import type { Job } from './sqlite-host.ts';
import type { Link } from './sqlite-link.ts';

/**
 * One connection and the turns at it: an open session has it for itself, everything else waits for
 * its end.
 */
class Lane {
  readonly #link: Link;
  #session: Promise<void> | undefined;

  constructor(link: Link) {
    this.#link = link;
  }

  /** A link carries every job's outcome as unknown; the kind of job says what it is. */
  async send<T>(job: Job): Promise<T> {
    while (this.#session !== undefined) await this.#session;
    return this.#link.send(job) as Promise<T>;
  }

  async begin(mode: Mode): Promise<Session> {
    while (this.#session !== undefined) await this.#session;
    let ended = (): void => undefined;
    this.#session = new Promise((resolve) => {
      ended = () => {
        this.#session = undefined;
        resolve();
      };
    });
    try {
      await this.#link.send({ do: 'begin', mode });
    } catch (error) {
      ended();
      throw error;
    }
    return {
      run: ({ sql, params }) => this.#link.send({ do: 'step', sql, params }) as Promise<Result>,
      commit: () => this.#end('commit').finally(ended),
      rollback: () => this.#end('rollback').finally(ended),
    };
  }

  async close(): Promise<void> {
    while (this.#session !== undefined) await this.#session;
    await this.#link.close();
  }

  async #end(how: 'commit' | 'rollback'): Promise<void> {
    try {
      await this.#link.send({ do: how });
    } catch (error) {
      await this.#link.send({ do: 'rollback' }).catch(() => undefined);
      throw error;
    }
  }
}

/**
 * SQLite over one link, or over two: then what only reads has a connection of its own, and a long
 * look at the records delays no charge.
 */
export class SqliteEngine implements Engine {
  readonly dialect = 'sqlite';
  readonly #writer: Lane;
  readonly #reader: Lane;

  constructor(writer: Link, reader?: Link) {
    this.#writer = new Lane(writer);
    this.#reader = reader === undefined ? this.#writer : new Lane(reader);
  }

  run({ sql, params }: Statement): Promise<Result> {
    return this.#writer.send({ do: 'run', sql, params });
  }

  read({ sql, params }: Statement): Promise<Result> {
    return this.#reader.send({ do: 'run', sql, params });
  }

  call(procedure: string, input: unknown): Promise<unknown> {
    return this.#writer.send({ do: 'call', procedure, input });
  }

  begin(mode: Mode): Promise<Session> {
    return (mode === 'write' ? this.#writer : this.#reader).begin(mode);
  }

  async close(): Promise<void> {
    await this.#writer.close();
    if (this.#reader !== this.#writer) await this.#reader.close();
  }
}
