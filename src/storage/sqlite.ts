import type { Statement } from './database.ts';
import type { Engine, Mode, Result, Session } from './engine.ts';
import type { Job } from './sqlite-host.ts';
import type { Link } from './sqlite-link.ts';

/** SQLite over one link. An open session has the connection for itself; everything else waits for its end. */
export class SqliteEngine implements Engine {
  readonly dialect = 'sqlite';
  readonly #link: Link;
  #session: Promise<void> | undefined;

  constructor(link: Link) {
    this.#link = link;
  }

  run({ sql, params }: Statement): Promise<Result> {
    return this.#send({ do: 'run', sql, params });
  }

  read(statement: Statement): Promise<Result> {
    return this.run(statement);
  }

  call(procedure: string, input: unknown): Promise<unknown> {
    return this.#send({ do: 'call', procedure, input });
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
    const finish = async (how: 'commit' | 'rollback'): Promise<void> => {
      try {
        await this.#link.send({ do: how });
      } catch (error) {
        await this.#link.send({ do: 'rollback' }).catch(() => undefined);
        throw error;
      } finally {
        ended();
      }
    };
    try {
      await this.#link.send({ do: 'begin', mode });
    } catch (error) {
      ended();
      throw error;
    }
    return {
      run: ({ sql, params }) => this.#link.send({ do: 'step', sql, params }) as Promise<Result>,
      commit: () => finish('commit'),
      rollback: () => finish('rollback'),
    };
  }

  async close(): Promise<void> {
    while (this.#session !== undefined) await this.#session;
    await this.#link.close();
  }

  /** The link carries every job's outcome as unknown; each job's kind says what it is. */
  async #send<T>(job: Job): Promise<T> {
    while (this.#session !== undefined) await this.#session;
    return this.#link.send(job) as Promise<T>;
  }
}
