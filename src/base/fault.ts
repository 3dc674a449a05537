/**
 * Why a vendor did not deliver. The pipeline decides by this alone whether to try elsewhere and
 * what the client sees.
 */
export type FaultKind =
  | 'bad_request' // the client's request is wrong for this model: its 400
  | 'context_length'
  | 'content_policy'
  | 'unknown_model' // unknown upstream id: the operator's configuration, never the client's 404
  | 'credentials' // the channel's key was refused
  | 'quota' // the account at the vendor is empty
  | 'rate_limited'
  | 'overloaded'
  | 'server_error'
  | 'protocol' // a response that cannot be read: HTML, half an event, a stream without its end
  | 'network'
  | 'timeout';

export interface Fault {
  readonly kind: FaultKind;
  /**
   * The vendor's own text, in no log; shown to the client only for `bad_request`, `context_length`
   * and `content_policy`.
   */
  readonly message: string;
  /** The request parameter that the vendor named, as it named it. */
  readonly param?: string;
  /** How long the vendor asked Tollgate to wait. */
  readonly retryAfterMs?: number;
  /**
   * The message is Tollgate's own, about the connection: a vendor's may hold the channel's key or
   * the client's text.
   */
  readonly ofConnection?: true;
  /** The vendor had accepted the work, and will deliver no result. */
  readonly ended?: true;
}
