/**
 * Why a vendor did not deliver. The pipeline decides by this alone whether to try elsewhere and
 * what the client sees (DESIGN §3).
 */
export type FaultKind =
  | 'bad_request' // the client's request is wrong for this model: its 400
  | 'context_length'
  | 'content_policy'
  | 'unknown_model' // the vendor does not know the upstream id: our configuration, never the client's 404
  | 'credentials' // our key was refused
  | 'quota' // our vendor account is empty
  | 'rate_limited'
  | 'overloaded'
  | 'server_error'
  | 'protocol' // an answer that cannot be read: HTML, half an event, a stream without its end
  | 'network'
  | 'timeout';

export interface Fault {
  readonly kind: FaultKind;
  /**
   * The vendor's own words, in no log; shown to the client only for `bad_request`, `context_length`
   * and `content_policy`.
   */
  readonly message: string;
  /** The request parameter that the vendor named, as it named it. */
  readonly param?: string;
  /** How long the vendor asked us to stay away. */
  readonly retryAfterMs?: number;
  /**
   * The message is ours, of the connection: a vendor's own may hold our key or the client's words.
   */
  readonly ofConnection?: true;
  /** Said of work that the vendor had taken: nothing will come of it. */
  readonly ended?: true;
}
