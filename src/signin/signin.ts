import { byUser, writeAudit } from '../accounts/audit.ts';
import {
  linkIdentity,
  type ProviderProfile,
  userOfIdentity,
  useLink,
} from '../accounts/identities.ts';
import { endSessionOf, type ResumedSession, startSession } from '../accounts/sessions.ts';
import type { Role, User } from '../accounts/users.ts';
import type { Database, Transaction } from '../storage/database.ts';
import { beginAttempt, takeAttempt } from '../accounts/sign-in-attempts.ts';
import { challengeOf, verifierOf } from './pkce.ts';
import { enrol } from './enrol.ts';
import { github, type Provider, wechat } from './providers.ts';
import type { SigninSettings } from './settings.ts';

/** Why a sign-in or a link failed. */
export type SigninFailure =
  | 'denied'
  | 'expired'
  | 'state_mismatch'
  | 'refused'
  | 'unavailable'
  | 'suspended'
  | 'sign_up_closed'
  | 'identity_taken'
  | 'identity_exists';

/** The browser that signs in. `at`: wall clock, ms. */
export interface Visitor {
  readonly browser: string;
  readonly ip: string;
  readonly at: number;
  /** The session that the browser had until now: a new sign-in ends it. */
  readonly former: string | undefined;
}

export type SigninOutcome =
  | { readonly done: 'signed in'; readonly secret: string; readonly next: string }
  | { readonly done: 'linked'; readonly next: string }
  | {
      readonly done: 'failed';
      readonly why: SigninFailure;
      readonly linking: boolean;
      readonly next: string;
    };

/** The new session's secret, for the browser. */
export type LinkOutcome = { readonly secret: string; readonly role: Role } | 'suspended';

export interface SigninOptions {
  readonly database: Database;
  readonly settings: SigninSettings;
  /** Reports a provider's failure to the operator. */
  readonly trouble: (provider: string, why: string) => void;
}

/** The parameters with which the browser comes back from the provider. */
export interface ProviderReturn {
  readonly state: string;
  /** Undefined: the person declined, or `error` says why the provider refused. */
  readonly code: string | undefined;
  readonly error: string | undefined;
  /** The secret that this browser was given when it left. */
  readonly kept: string;
  readonly redirectUri: string;
  /** The session that the browser has now. */
  readonly signedIn: ResumedSession | undefined;
}

/** The error of a person who declines (RFC 6749 §4.1.2.1). Others are the operator's matter. */
const personDeclined = 'access_denied';
const errorCharactersMax = 100;

/** Signs users in, by a provider or by a link. */
export class Signin {
  readonly #options: SigninOptions;
  readonly #providers: ReadonlyMap<string, Provider>;

  constructor(options: SigninOptions) {
    this.#options = options;
    const { github: hub, wechat: chat } = options.settings;
    const providers = [
      ...(chat === undefined ? [] : [wechat(chat)]),
      ...(hub === undefined ? [] : [github(hub)]),
    ];
    this.#providers = new Map(providers.map((provider) => [provider.name, provider]));
  }

  /** The names of the configured providers. */
  get offered(): ReadonlySet<string> {
    return new Set(this.#providers.keys());
  }

  /**
   * Begins a sign-in, and returns the provider's address for the browser. Undefined: the provider
   * is not configured. `userId`: the user who links an identity.
   */
  async begin(
    name: string,
    {
      next,
      userId,
      kept,
      redirectUri,
      at,
    }: { next: string; userId?: string; kept: string; redirectUri: string; at: number },
  ): Promise<string | undefined> {
    const provider = this.#providers.get(name);
    if (provider === undefined) return undefined;
    const state = await beginAttempt(
      this.#options.database,
      { provider: name, next, userId },
      { browser: kept, at },
    );
    return provider.address({
      state,
      challenge: challengeOf(verifierOf(kept, state)),
      redirectUri,
    });
  }

  async finish(
    name: string,
    { state, code, error, kept, redirectUri, signedIn }: ProviderReturn,
    visitor: Visitor,
  ): Promise<SigninOutcome> {
    const { database, trouble } = this.#options;
    const attempt = await takeAttempt(database, {
      provider: name,
      state,
      browser: kept,
      at: visitor.at,
    });
    if (typeof attempt === 'string')
      return failure(attempt === 'expired' ? 'expired' : 'state_mismatch', '/');
    const { next, userId } = attempt;
    const failed = (why: SigninFailure) => failure(why, next, userId !== undefined);
    const provider = this.#providers.get(name);
    if (error !== undefined && error !== personDeclined) {
      trouble(name, `it refused with the error ${error.slice(0, errorCharactersMax)}`);
      return failed('refused');
    }
    if (code === undefined || provider === undefined) return failed('denied');
    // The user who began to link has signed out, or another one has signed in: the identity would
    // go to the wrong user.
    if (userId !== undefined && signedIn?.user.id !== userId) return failed('state_mismatch');
    const person = await provider.person({ code, verifier: verifierOf(kept, state), redirectUri });
    if ('fault' in person) {
      trouble(name, person.why);
      return failed(person.fault === 'refused' ? 'refused' : 'unavailable');
    }
    if (userId === undefined) return this.#enter(person, visitor, next);
    const linked = await database.transact(() => link(userId, person, visitor));
    return linked === 'linked'
      ? { done: 'linked', next }
      : failed(linked === 'taken' ? 'identity_taken' : 'identity_exists');
  }

  /** Signs in with an unused link. Undefined: it was used, has expired or never existed. */
  async byLink(link: string, visitor: Visitor): Promise<LinkOutcome | undefined> {
    return this.#options.database.transact(function* () {
      const user = yield* useLink(link, visitor.at);
      return user && (yield* admit(user, 'link', visitor));
    });
  }

  async #enter(person: ProviderProfile, visitor: Visitor, next: string): Promise<SigninOutcome> {
    const { database, settings } = this.#options;
    const enter = (): Promise<LinkOutcome | undefined> =>
      database.transact(function* () {
        const user =
          (yield* userOfIdentity(person)) ??
          (settings.signUp ? yield* signUp(person, visitor) : undefined);
        return user && (yield* admit(user, person.provider, visitor));
      });
    const admitted = await enter().catch((error: unknown) => {
      // The same newcomer in two windows: the other window was first, and the user exists by now.
      if (error instanceof ConcurrentSignUp) return enter();
      throw error;
    });
    if (admitted === undefined) return failure('sign_up_closed', next);
    if (admitted === 'suspended') return failure('suspended', next);
    return { done: 'signed in', ...admitted, next };
  }
}

const failure = (why: SigninFailure, next: string, linking = false): SigninOutcome => ({
  done: 'failed',
  why,
  linking,
  next,
});

class ConcurrentSignUp extends Error {}

function* signUp(person: ProviderProfile, { at, ip }: Visitor): Transaction<User> {
  const user = yield* enrol(person.name, 'user', at);
  if ((yield* linkIdentity(user.id, person, at)) !== 'linked') throw new ConcurrentSignUp();
  yield* writeAudit(at, {
    ...byUser(user.id, ip),
    action: 'user.sign_up',
    target: user.id,
    after: { provider: person.provider, name: person.name },
  });
  return user;
}

function* link(
  userId: string,
  person: ProviderProfile,
  { at, ip }: Visitor,
): ReturnType<typeof linkIdentity> {
  const linked = yield* linkIdentity(userId, person, at);
  if (linked === 'linked')
    yield* writeAudit(at, {
      ...byUser(userId, ip),
      action: 'identity.link',
      target: person.provider,
      after: { name: person.name },
    });
  return linked;
}

/**
 * Starts a new session and never takes over an earlier one, which an attacker could have planted.
 */
function* admit(
  user: User,
  way: string,
  { browser, ip, at, former }: Visitor,
): Transaction<LinkOutcome> {
  if (user.state === 'suspended') return 'suspended';
  if (former !== undefined) yield* endSessionOf(former);
  const { secret } = yield* startSession({ userId: user.id, way, browser, ip, at });
  return { secret, role: user.role };
}
