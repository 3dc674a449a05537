import type { Person } from '../accounts/identities.ts';

/** What the sign-in has to say to the provider at its start. */
export interface Start {
  /** Comes back unchanged. */
  readonly state: string;
  /** Proof of who began, where the provider takes one: PKCE, S256. */
  readonly challenge: string;
  readonly redirectUri: string;
}

/** And at its end. */
export interface Return {
  readonly code: string;
  readonly verifier: string;
  readonly redirectUri: string;
}

/**
 * The provider said no to the code (it was used, has expired, is not ours), or could not be asked.
 * `why` is for the log.
 */
export interface NoPerson {
  readonly fault: 'refused' | 'unreachable';
  readonly why: string;
}

/** Somebody who knows who people are. */
export interface Provider {
  readonly name: 'github' | 'wechat';
  /** Where the browser goes. */
  address(start: Start): string;
  /** Who came back. Never throws. */
  person(back: Return): Promise<Person | NoPerson>;
}
