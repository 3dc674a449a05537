import * as z from 'zod';
import { keyNames, userNames } from '../../accounts/names.ts';
import type { RequestLogQuery } from '../../request-log/queries.ts';
import { gatewayLimits } from '../../gateway/parts.ts';
import type { Database } from '../../storage/database.ts';
import type {
  FailedPage,
  OperatorRequest,
  OperatorRequestDetail,
  RequestAttempt,
} from '../contract.ts';
import { csvLine, csvStart, sendCsv } from '../csv.ts';
import { instant } from '../format.ts';
import { pageInput } from '../input.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, defineRoute } from '../route.ts';
import {
  anyRequest,
  attemptsMade,
  attemptsOf,
  failedRequest,
  filterText,
  keptFrom,
  loggedRequests,
  questionOf,
  requestFilter,
  requestPage,
  requestsFound,
  type ShownRequest,
  type TimelineAttempt,
} from '../user/requests.ts';
import { allRequests } from './all-requests.ts';
import type { OperatorContext } from './context.ts';

const filterInput = requestFilter.extend({
  user: z.string().optional(),
  channel: z.string().optional(),
  id: z.string().optional(),
  all: z.literal('1').optional(),
});
const listInput = filterInput.extend(pageInput);

/** The requests of all users: those that failed, or all. */
export function operatorRequestRoutes({
  database,
  cursors,
}: OperatorContext): readonly ConsoleRoute[] {
  const role = 'operator';
  return [
    defineRoute({
      method: 'GET',
      path: 'operator/requests',
      role,
      input: listInput,
      async handle({ input, at }): Promise<FailedPage<OperatorRequest>> {
        const of = ['operator requests', ...filterText(input)];
        const question = { ...operatorQuestion(input, at), limit: input.limit, after: input.after };
        const read = readerOf(input);
        const { items, next } = await requestPage(database, cursors, of, question, read);
        return {
          items: await operatorRequests(database, items),
          next,
          prev: null,
          kept_from: await keptFrom(database, input.user, input, at),
          as_of: instant(at),
        };
      },
    }),
    defineRoute({
      method: 'GET',
      path: 'operator/requests.csv',
      role,
      input: filterInput,
      perMinute: 10,
      async handle({ input, at, user, reply }) {
        const { zone } = user;
        await sendCsv(
          reply,
          'requests',
          { zone, at },
          csv(database, operatorQuestion(input, at), readerOf(input)),
        );
      },
    }),
    defineRoute({
      method: 'GET',
      path: 'operator/requests/:id',
      role,
      handle: async ({ params }): Promise<OperatorRequestDetail> =>
        (await requestDetail(database, params['id'] ?? '')) ?? throwProblem('not_found'),
    }),
  ];
}

/** With `all`, charged requests are listed beside those of the log. */
const readerOf = ({ all }: z.output<typeof filterInput>): typeof loggedRequests =>
  all === undefined ? loggedRequests : allRequests;

const operatorQuestion = (
  input: z.output<typeof filterInput>,
  now: number,
): Omit<RequestLogQuery, 'limit'> => ({
  ...questionOf(input, now),
  account: input.user,
  channel: input.channel,
  id: input.id,
  failedOnly: input.all === undefined && input.id === undefined,
});

/** Any request, logged or charged; undefined: there is none of this id. */
export async function requestDetail(
  database: Database,
  id: string,
): Promise<OperatorRequestDetail | undefined> {
  const found = await database.snapshot(() => anyRequest(id));
  const [view] = found === undefined ? [] : await operatorRequests(database, [found.logged]);
  return (
    view && {
      ...view,
      charged: found?.charged === true,
      refunded: found?.refunded ?? 'none',
      attempts_max: gatewayLimits.attemptsMax,
    }
  );
}

/** Requests as operators see them, with the names of their users and keys. */
export async function operatorRequests(
  database: Database,
  requests: readonly ShownRequest[],
): Promise<readonly OperatorRequest[]> {
  const users = await userNames(
    database,
    requests.map(({ account }) => account),
  );
  const keys = await keyNames(
    database,
    requests.map(({ keyId }) => keyId),
  );
  return requests.map((request) => ({
    ...failedRequest(request, keys),
    user: { id: request.account, name: users.get(request.account) ?? null },
    channel: request.channel ?? null,
    attempts_made: attemptsMade(request),
    attempts: attemptsOf(request).map(attemptView),
  }));
}

const attemptView = ({
  channel,
  key,
  beganMs,
  endedMs,
  fault,
}: TimelineAttempt): RequestAttempt => ({
  channel,
  key: key ?? null,
  began_ms: beganMs,
  ended_ms: endedMs,
  fault:
    fault === undefined
      ? null
      : {
          kind: fault.fault,
          stage: fault.stage,
          status: fault.status ?? null,
          why: fault.why ?? null,
          may_retry: fault.mayRetry,
        },
});

const csvPage = 500;
const header = [
  'time',
  'request_id',
  'user',
  'user_name',
  'key',
  'endpoint',
  'model',
  'channel',
  'status',
  'outcome',
  'code',
  'param',
  'total_ms',
  'attempts',
  'attempts_made',
];

async function* csv(
  database: Database,
  question: Omit<RequestLogQuery, 'limit'>,
  read: typeof loggedRequests,
): AsyncGenerator<string> {
  yield csvStart + csvLine(header);
  for (let before: string | undefined; ; ) {
    const { items, next } = await requestsFound(
      database,
      { ...question, before, limit: csvPage },
      read,
    );
    const lines = await operatorRequests(database, items);
    yield lines.map((view) => csvLine(cellsOf(view))).join('');
    if (next === undefined) return;
    before = next;
  }
}

const cellsOf = (view: OperatorRequest): readonly (string | number | null)[] => [
  view.at,
  view.id,
  view.user.id,
  view.user.name,
  view.key_name,
  view.endpoint,
  view.model,
  view.channel,
  view.status,
  view.outcome,
  view.code,
  view.param,
  view.total_ms,
  view.attempts
    .map(({ channel, fault }) => `${channel}: ${fault?.kind ?? 'answered'} ${fault?.status ?? ''}`)
    .map((text) => text.trim())
    .join('; '),
  view.attempts_made,
];
