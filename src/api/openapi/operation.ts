import type { Schema } from './schema.ts';

/** What the document says of one endpoint beside its method and path. */
export interface Operation {
  /**
   * As clients that are generated from the document call it; the key of its example in
   * `examples.json`.
   */
  readonly id: string;
  readonly tag: string;
  /** One line, without a full stop. */
  readonly summary: string;
  readonly description?: string;
  /** Names of schemas of the same family. */
  readonly schemas?: Readonly<Record<string, Schema>>;
  /** The places of the path, in its order. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, Schema>>;
  /** What is sent, by content type. Files of a form are `binary`. */
  readonly body?: Readonly<Partial<Record<'application/json' | 'multipart/form-data', Schema>>>;
  /** What comes back with 200, by content type. */
  readonly answer: Readonly<Record<string, Schema>>;
  /** It takes an `Idempotency-Key`. */
  readonly once?: true;
  /** Refusals by status that only this endpoint, or few of them, have. */
  readonly also?: readonly number[];
}

/** `POST /chat/completions` → what is said of it. */
export type Operations = Readonly<Record<string, Operation>>;
