import type { Principal } from '../../src/accounts/principal.ts';
import type { ParsedJson, RequestBody } from '../../src/api/request-body.ts';
import { Refusal } from '../../src/base/refusal.ts';

/** The client of the requests that tests give to parsers. */
export const principal: Principal = {
  keyId: 'k',
  userId: 'u',
  group: 'default',
  limit: undefined,
  expiresAt: undefined,
};
export const context = { id: 'req_0', principal, request: { headers: {} } };

/** A JSON body as a parser gets it. */
export const sentJson = (
  body: RequestBody,
  bytes: Buffer = Buffer.from(JSON.stringify(body)),
): ParsedJson => ({ body, bytes, skeleton: undefined });

/** What `make` returns; undefined where it refuses. Any other error is a bug. */
export function unlessRefused<Made>(make: () => Made): Made | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** The refusal that `make` throws. */
export function refusalOf(make: () => unknown): Refusal {
  try {
    make();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
