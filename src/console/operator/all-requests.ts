import { endOfTime } from '../../base/calendar.ts';
import { accountOfKey } from '../../accounts/names.ts';
import { firstIdAt, timeOfId } from '../../base/random.ts';
import { type LoggedRequest, outcomesNamed } from '../../request-log/entry.ts';
import { loggedAmong, requestLogPage, type RequestLogQuery } from '../../request-log/queries.ts';
import type { Transaction } from '../../storage/database.ts';
import {
  type AllRecordsPage,
  type AllRecordsQuery,
  recordsOfAccount,
  recordsOfAll,
} from '../../usage/all-records.ts';
import { requestOfCharge, type RequestsFound } from '../user/requests.ts';

/** After the id of every request. */
const endOfIds = 'req_g';

/**
 * A page of all requests, charged ones and those of the log, the newest first. Where the log has a
 * charged request, too, the log's row is shown. Charged video tasks are not among them.
 */
export function* allRequests(question: RequestLogQuery): Transaction<RequestsFound> {
  const { limit } = question;
  const logged = yield* requestLogPage({ ...question, limit: limit + 1 });
  const { rows, until } = yield* chargedPage(question);
  const known = yield* loggedAmong(rows.map(({ id }) => String(id)));
  const charged = rows.filter(({ id }) => !known.has(String(id))).map(requestOfCharge);
  const found = [...logged, ...charged]
    .filter(({ id }) => until === undefined || id >= until)
    .toSorted(newestFirst);
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? items.at(-1)?.id : until };
}

const newestFirst = (a: LoggedRequest, b: LoggedRequest): number => (a.id < b.id ? 1 : -1);

/** The records that requests without a row in the log are made from. */
function* chargedPage(question: RequestLogQuery): Transaction<AllRecordsPage> {
  const { status, id, before = endOfIds, from = 0, to, code, limit, key } = question;
  const succeeded = status === '200' || status === '2xx';
  const left = status === '499' || status === '4xx';
  if (status !== undefined && !succeeded && !left) return { rows: [], until: undefined };
  const filter = {
    keyId: key,
    model: question.model,
    channel: question.channel,
    statuses: code === undefined ? undefined : outcomesNamed(code),
    answerBegun: status === undefined ? undefined : succeeded,
    limit: limit + 1,
  };
  if (id !== undefined) {
    const { rows, until } = yield* recordsOfAll({ ...filter, ...rangeOf(id) });
    const { account } = question;
    const own = rows.filter((row) => account === undefined || row['account'] === account);
    return { rows: own, until };
  }
  const range = rangeBefore(before, from, to);
  if (question.account === undefined && key === undefined)
    return yield* recordsOfAll({ ...filter, ...range });
  const account = question.account ?? (yield* accountOfKey(key ?? ''));
  if (account === undefined) return { rows: [], until: undefined };
  return yield* recordsOfAccount(account, { ...filter, ...range });
}

type IdRange = Pick<AllRecordsQuery, 'fromId' | 'beforeId' | 'begunFrom' | 'begunTo'>;

function rangeBefore(before: string, from: number, to: number | undefined): IdRange {
  const end = to === undefined ? endOfIds : firstIdAt(to);
  const beforeId = before < end ? before : end;
  const begunTo = beforeId === endOfIds ? endOfTime : timeOfId(beforeId) + 1;
  return { fromId: firstIdAt(from), beforeId, begunFrom: from, begunTo };
}

/** Nothing is between an id and itself with one more character. */
function rangeOf(id: string): IdRange {
  const begun = timeOfId(id);
  const known = !Number.isNaN(begun);
  return {
    fromId: id,
    beforeId: `${id}0`,
    begunFrom: known ? begun : 0,
    begunTo: known ? begun : endOfTime,
  };
}
