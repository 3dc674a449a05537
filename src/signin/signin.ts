import { writeAudit } from '../accounts/audit.ts';
import {
  linkIdentity,
  type ProviderProfile,
  userOfIdentity,
  useLink,
} from '../accounts/identities.ts';
import { endSessionOf, type ResumedSession, startSession } from '../accounts/sessions.ts';
import type { User } from '../accounts/users.ts';
import type { Database, Transaction } from '../storage/database.ts';
import { beginAttempt, challengeOf, takeAttempt, verifierOf } from './attempts.ts';
import { enrol } from './enrol.ts';
import { github, type Provider, wechat } from './providers.ts';
import type { SigninSettings } from './settings.ts';

/** Why nobody is signed in, or nothing is linked, now. */
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
  /** The session that it had until now: a new sign-in ends it. */
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
export type LinkOutcome = { readonly secret: string } | 'suspended';

export interface SigninOptions {
  readonly database: Database;
  readonly settings: SigninSettings;
  /** A provider that did not do what it should: for the operator. */
  readonly trouble: (provider: string, why: string) => void;
}

/** What came back with the browser. */
export interface ProviderReturn {
  readonly state: string;
  /** Undefined: the person said no. */
  readonly code: string | undefined;
  /** The secret that this browser was given when it left. */
  readonly kept: string;
  readonly redirectUri: string;
  /** Who is signed in here now. */
  readonly signedIn: ResumedSession | undefined;
}

/** The ways in. */
export class Signin {
  readonly #rooms: SigninOptions;
  readonly #providers: ReadonlyMap<string, Provider>;

  constructor(rooms: SigninOptions) {
    this.#rooms = rooms;
    const { github: hub, wechat: chat } = rooms.settings;
    const providers = [
      ...(chat === undefined ? [] : [wechat(chat)]),
      ...(hub === undefined ? [] : [github(hub)]),
    ];
    this.#providers = new Map(providers.map((provider) => [provider.name, provider]));
  }

  /** Those that are configured. */
  get methods(): readonly Provider['name'][] {
    return [...this.#providers.values()].map(({ name }) => name);
  }

  /**
   * The provider's address, to which the browser is to go. Undefined: it is not offered. `userId`:
   * who is linking.
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
      this.#rooms.database,
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
    { state, code, kept, redirectUri, signedIn }: ProviderReturn,
    visitor: Visitor,
  ): Promise<SigninOutcome> {
    const { database, trouble } = this.#rooms;
    const attempt = await takeAttempt(database, {
      provider: name,
      state,
      browser: kept,
      at: visitor.at,
    });
    if (typeof attempt === 'string')
      return {
        done: 'failed',
        why: attempt === 'expired' ? 'expired' : 'state_mismatch',
        linking: false,
        next: '/',
      };
    const { next, userId } = attempt;
    const failed = (why: SigninFailure): SigninOutcome => ({
      done: 'failed',
      why,
      linking: userId !== undefined,
      next,
    });
    const provider = this.#providers.get(name);
    if (code === undefined || provider === undefined) return failed('denied');
    // Whoever began to link has left, or somebody else has come: it would be linked to the wrong
    // one.
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

  /** Signs in whoever has an unused link. Undefined: it was used, is over or never was. */
  async byLink(link: string, visitor: Visitor): Promise<LinkOutcome | undefined> {
    return this.#rooms.database.transact(function* () {
      const user = yield* useLink(link, visitor.at);
      return user && (yield* admit(user, 'link', visitor));
    });
  }

  async #enter(person: ProviderProfile, visitor: Visitor, next: string): Promise<SigninOutcome> {
    const { database, settings } = this.#rooms;
    const enter = (): Promise<LinkOutcome | undefined> =>
      database.transact(function* () {
        const user =
          (yield* userOfIdentity(person)) ??
          (settings.signUp ? yield* signUp(person, visitor) : undefined);
        return user && (yield* admit(user, person.provider, visitor));
      });
    const admitted = await enter().catch((error: unknown) => {
      // The same newcomer in two windows: the other one was first, and is known by now.
      if (error instanceof ConcurrentSignUp) return enter();
      throw error;
    });
    const failed = (why: SigninFailure): SigninOutcome => ({
      done: 'failed',
      why,
      linking: false,
      next,
    });
    if (admitted === undefined) return failed('sign_up_closed');
    return admitted === 'suspended'
      ? failed('suspended')
      : { done: 'signed in', ...admitted, next };
  }
}

class ConcurrentSignUp extends Error {}

function* signUp(person: ProviderProfile, { at, ip }: Visitor): Transaction<User> {
  const user = yield* enrol(person.name, 'user', at);
  if ((yield* linkIdentity(user.id, person, at)) !== 'linked') throw new ConcurrentSignUp();
  const by = { actorKind: 'user', actor: user.id, account: user.id, ip } as const;
  yield* writeAudit(at, {
    ...by,
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
  const by = { actorKind: 'user', actor: userId, account: userId, ip } as const;
  if (linked === 'linked')
    yield* writeAudit(at, {
      ...by,
      action: 'identity.link',
      target: person.provider,
      after: { name: person.name },
    });
  return linked;
}

/** A new session, never one that was there before: nobody can have planted it. */
function* admit(
  user: User,
  way: string,
  { browser, ip, at, former }: Visitor,
): Transaction<LinkOutcome> {
  if (user.state === 'suspended') return 'suspended';
  if (former !== undefined) yield* endSessionOf(former);
  const { secret } = yield* startSession({ userId: user.id, way, browser, ip, at });
  return { secret };
}
