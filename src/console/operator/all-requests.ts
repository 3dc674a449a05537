import type { LoggedRequest } from '../../request-log/entry.ts';
import { outcomesNamed } from '../../request-log/entry.ts';
import {
  firstIdAt,
  loggedAmong,
  requestLogPage,
  type RequestLogQuery,
} from '../../request-log/queries.ts';
import type { Transaction } from '../../storage/database.ts';
import { allRecordsPage, type AllRecordsPage } from '../../usage/all-records.ts';
import { requestOfCharge, type RequestsFound } from '../user/requests.ts';

/** After the id of every request. */
const endOfIds = 'req_g';

/**
 * A page of all requests, charged ones and those of the log, the newest first. What the log has of
 * a charged request decides, as it knows more of it.
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

/** Charged requests have the status 200, unless the log says otherwise. */
function* chargedPage(question: RequestLogQuery): Transaction<AllRecordsPage> {
  const { status = '200', id, before, from = 0, to, code, limit } = question;
  if (status !== '200' && status !== '2xx') return { rows: [], until: undefined };
  const end = [before, to === undefined ? undefined : firstIdAt(to), endOfIds]
    .filter((one) => one !== undefined)
    .toSorted()[0];
  return yield* allRecordsPage({
    account: question.account,
    keyId: question.key,
    model: question.model,
    channel: question.channel,
    statuses: code === undefined ? undefined : outcomesNamed(code),
    fromId: id ?? firstIdAt(from),
    // Nothing is between an id and itself with one more character.
    beforeId: id === undefined ? (end ?? endOfIds) : `${id}0`,
    begunFrom: from,
    limit: limit + 1,
  });
}
