import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { Principal } from '../accounts/principal.ts';
import type { Endpoint } from '../api/endpoint.ts';
import { limitRefusal } from '../api/errors.ts';
import { type EntryLog, chatConvention, modelIn } from '../api/entry.ts';
import { systemClock } from '../base/clock.ts';
import { Refusal } from '../base/refusal.ts';
import { listFeesAt } from '../catalog/build-snapshot.ts';
import { defaultUsdRatePpm, loadBundled } from '../catalog/bundled.ts';
import { utcDate } from '../catalog/configuration.ts';
import { openAuth } from '../console/auth-pages.ts';
import type { SignInMethod, Attention } from '../console/contract.ts';
import { Cursors } from '../console/cursor.ts';
import { instant, yuan } from '../console/format.ts';
import { announcementsFor } from '../console/operator/announcements.ts';
import type { OperatorContext } from '../console/operator/context.ts';
import { operatorOrderRoutes } from '../console/operator/orders.ts';
import { operatorRoutes, userTabRoutes } from '../console/operator/routes.ts';
import type { ConsoleRoute } from '../console/route.ts';
import { type ConsoleContext, type OpenConsole, openConsole } from '../console/server.ts';
import type { DemoFacts } from '../console/user/account.ts';
import { changedOrders, orderRoutes, walletPages } from '../console/user/orders.ts';
import type { PlaygroundCall, PlaygroundEndpoint } from '../console/user/playground.ts';
import { type UserContext, userRoutes } from '../console/user/routes.ts';
import { signInRoutes } from '../console/user/sign-in.ts';
import { releasedTasks } from '../console/user/tasks.ts';
import { LimitReached } from '../gateway/admit.ts';
import type { GatewayParts } from '../gateway/parts.ts';
import { serverLimits } from '../http/server.ts';
import { MemoryLimiter } from '../limits/limiter.ts';
import { countUnmatched, listUnmatched } from '../payments/orders.ts';
import { listStuckRefunds } from '../payments/refunds.ts';
import type { Payments } from '../payments/payments.ts';
import { vendors } from '../providers/index.ts';
import { toolListFees } from '../providers/tool-list-fees.ts';
import { signInMethods, type SigninSettings } from '../signin/settings.ts';
import { Signin } from '../signin/signin.ts';
import { openSite, type Site } from '../signin/site.ts';
import type { Database } from '../storage/database.ts';
import type { Sealer } from '../storage/seal.ts';
import type { OnError } from '../storage/repeat.ts';
import type { Log } from '../telemetry/log.ts';
import { proofs } from './schema.ts';

export interface ConsoleOptions {
  /** The public URL of the gateway, without `/` at its end; undefined: each client's own. */
  readonly publicUrl: string | undefined;
  /** Ways to sign in; absent: the one-time link alone. */
  readonly signin?: SigninSettings;
  /** Addresses and networks of proxies whose forwarded client address is trusted. */
  readonly trustedProxies?: readonly string[];
  /** The group whose models and prices are readable without a session; undefined: none. */
  readonly publicModels?: string | undefined;
  /** The path of the configuration file, which operators read; undefined: there is none. */
  readonly configurationFile?: string | undefined;
  /** The sign-in page and the page of an order say that this is a demo. */
  readonly demo?: DemoFacts | undefined;
}

/** The routes of the pages, made once the public URL and the ways to sign in are known. */
export type PageRoutes = (beside: {
  readonly site: Site;
  readonly methods: readonly SignInMethod[];
}) => readonly ConsoleRoute[];

/** Adds the console and its ways to sign in to the server. */
export async function mountConsole(
  server: FastifyInstance,
  {
    database,
    log,
    pages,
  }: { readonly database: Database; readonly log: Log; readonly pages: PageRoutes },
  { publicUrl, signin: settings = { signUp: true }, trustedProxies }: ConsoleOptions,
): Promise<OpenConsole> {
  const site = openSite(publicUrl, trustedProxies);
  const signin = new Signin({
    database,
    settings,
    trouble: (provider, why) => log.line('sign-in', { provider, why }),
  });
  const context: ConsoleContext = {
    database,
    clock: systemClock,
    limiter: new MemoryLimiter(systemClock),
    site,
    log: {
      refused: (id, status, refusal, method, path) =>
        log.line('refused', { id, status, refusal, method, path }),
      bug: (id, error) => log.error('bug', error, { id }),
    },
  };
  await openAuth(server, { ...context, signin });
  const routes = [
    ...signInRoutes({ ...context, signin }),
    ...pages({ site, methods: signInMethods(settings) }),
  ];
  return openConsole(server, context, routes);
}

/** The parts of the gateway that the pages of users show and try. */
interface UserPageParts {
  readonly database: Database;
  readonly parts: Pick<GatewayParts, 'clock' | 'catalog' | 'files' | 'limits'>;
  readonly endpoints: readonly Endpoint[];
  /** Records a request of the playground that was refused. */
  readonly refusedOfKey: EntryLog['refusedOfKey'];
}

/** What other parts of the console supply to the pages of users. */
type UserPageSources = Pick<UserContext, 'site' | 'shell' | 'ordersSince' | 'cursors'>;

/** The routes of all pages of users. */
function openUserRoutes(
  { database, parts: { clock, catalog, files, limits }, ...pages }: UserPageParts,
  beside: UserPageSources,
): readonly ConsoleRoute[] {
  return userRoutes({
    ...beside,
    database,
    clock,
    catalog,
    files,
    vendors,
    utcOffsetMinutes: limits.utcOffsetMinutes,
    announced: (userId, now) => announcementsFor(database, userId, now),
    released: (ownerId, from, to) => releasedTasks(database, ownerId, from, to),
    play: openPlayground(pages),
    playBytesMax: serverLimits.jsonBodyBytesMax,
  });
}

const playgroundPaths: Readonly<Record<PlaygroundEndpoint, string>> = {
  chat: '/chat/completions',
  images: '/images/generations',
  'images/edits': '/images/edits',
  videos: '/video/generations',
  speech: '/audio/speech',
  transcriptions: '/audio/transcriptions',
  embeddings: '/embeddings',
};

/** The API's own endpoints, for clients with a session instead of a key. */
function openPlayground({
  endpoints,
  refusedOfKey,
}: Pick<UserPageParts, 'endpoints' | 'refusedOfKey'>): PlaygroundCall {
  const posted = new Map(
    endpoints.flatMap((endpoint) =>
      endpoint.method === 'POST' ? [[endpoint.path, endpoint] as const] : [],
    ),
  );
  return async (what, principal: Principal, { id, at, headers, body, reply }) => {
    const path = playgroundPaths[what];
    const endpoint = posted.get(path);
    if (endpoint === undefined) throw new Error(`there is no endpoint ${path}`);
    // Some endpoints read their raw body themselves.
    const asSent = endpoint.body === 'stream' ? Readable.from([body]) : body;
    const request = {
      method: 'POST',
      url: `/v1${path}`,
      headers,
      body: asSent,
      model: undefined,
      params: {},
    };
    try {
      await endpoint.handle({
        id,
        at,
        principal,
        request,
        response: reply.client,
        convention: chatConvention,
      });
    } catch (error) {
      const why = error instanceof LimitReached ? limitRefusal(error) : error;
      const { userId: account, keyId } = principal;
      const model = (): string | undefined => modelIn(body);
      if (why instanceof Refusal)
        refusedOfKey({ id, at, account, keyId, endpoint: `POST /v1${path}`, model }, why);
      throw why;
    }
  };
}

/** The parts of the gateway that the pages of operators show and change. */
interface OperatorPageParts {
  readonly database: Database;
  readonly onError: OnError;
  readonly sealer: Sealer;
  readonly parts: Pick<GatewayParts, 'clock' | 'catalog'>;
  /** Millionths of a yuan for a dollar; undefined: the default. */
  readonly usdRatePpm: bigint | undefined;
}

/**
 * The routes of all pages of operators. `users`: the queries that user pages make for themselves,
 * and operator pages for any user.
 */
function openOperatorRoutes(
  {
    database,
    onError,
    sealer,
    parts: { clock, catalog },
    usdRatePpm = defaultUsdRatePpm,
  }: OperatorPageParts,
  users: readonly ConsoleRoute[],
  cursors: Cursors,
): readonly ConsoleRoute[] {
  const attention = [(now: number) => paymentAttention(database, now)];
  const context: OperatorContext = {
    database,
    sealer,
    clock,
    catalog,
    vendors,
    proofs,
    onError,
    attention,
    cursors,
    bundled: () => loadBundled({ usdRatePpm, today: utcDate(clock.now()) }),
    listFees: listFeesAt(toolListFees, usdRatePpm),
  };
  return [...operatorRoutes(context), ...userTabRoutes(database, users)];
}

const shownForMs = 7 * 86_400_000;
const shownMax = 5;
const refundMs = 3_600_000;

/** What an operator must end: recent payments that fit no order, and refunds that do not end. */
export async function paymentAttention(
  database: Database,
  now: number,
): Promise<readonly Attention[]> {
  return [...(await unmatchedPayments(database, now)), ...(await stuckRefunds(database, now))];
}

async function stuckRefunds(database: Database, now: number): Promise<readonly Attention[]> {
  const refunds = await listStuckRefunds(database, now - refundMs, shownMax);
  return refunds.map(({ wallet, orderId, amount, createdAt }) => ({
    code: 'refund_not_ended',
    values: { wallet, amount: yuan(amount) },
    since: instant(createdAt),
    path: `/operator/orders?order=${encodeURIComponent(orderId)}`,
  }));
}

async function unmatchedPayments(database: Database, now: number): Promise<readonly Attention[]> {
  const since = now - shownForMs;
  const payments = await listUnmatched(database, since, shownMax);
  const shown = payments.map(
    ({ wallet, number, orderId, amount, currency, why, at }): Attention => ({
      code: 'unmatched_payment',
      values: { wallet, number, amount: yuan(amount), currency, why },
      since: instant(at),
      path: `/operator/orders?q=${encodeURIComponent(orderId)}`,
    }),
  );
  const last = shown.at(-1);
  const more = last === undefined ? 0 : (await countUnmatched(database, since)) - shown.length;
  if (last === undefined || more <= 0) return shown;
  const rest: Attention = {
    code: 'unmatched_payments',
    values: { count: String(more) },
    since: last.since,
    path: '/operator/reconciliation',
  };
  return [...shown, rest];
}

const siteName = 'Tollgate';

export type PageParts = UserPageParts &
  OperatorPageParts & {
    readonly payments: Payments;
    readonly email: boolean;
    readonly publicModels: string | undefined;
    readonly configurationFile: string | undefined;
    readonly demo: DemoFacts | undefined;
  };

/** All pages of users and operators of one gateway. */
export const openPageRoutes =
  (pages: PageParts): PageRoutes =>
  ({ site, methods }) => {
    const { database, sealer, parts, payments, email, publicModels, demo } = pages;
    const cursors = new Cursors(sealer.key('cursors of the console'));
    const orders = { ...parts, database, payments, cursors };
    const shell = {
      name: siteName,
      methods,
      wallets: payments.offers.map(({ wallet }) => wallet),
      walletPages: walletPages(payments),
      amounts: payments.amounts,
      email,
      publicGroup: publicModels,
      configurationFile: pages.configurationFile,
      demo,
    };
    const ordersSince = (ownerId: string, since: number) => changedOrders(database, ownerId, since);
    const users = [
      ...openUserRoutes(pages, { site, shell, ordersSince, cursors }),
      ...orderRoutes(orders),
    ];
    return [...users, ...openOperatorRoutes(pages, users, cursors), ...operatorOrderRoutes(orders)];
  };
