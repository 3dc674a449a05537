import * as z from 'zod';
import { writeAudit } from '../../accounts/audit.ts';
import { invitationLifeMs, makeLink } from '../../accounts/identities.ts';
import { rememberForm, stillOperator, userMadeWith, userPage } from '../../accounts/users.ts';
import { enrol, linkAddress } from '../../signin/enrol.ts';
import { DatabaseError, type Transaction } from '../../storage/database.ts';
import type { Invitation } from '../contract.ts';
import { instant } from '../format.ts';
import { idempotencyKeyIn, nameInput } from '../input.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, defineRoute, type SignedInRequest } from '../route.ts';
import { byOperator, type OperatorContext } from './context.ts';
import { userView } from './user-list.ts';

const invitationInput = z.strictObject({
  name: nameInput,
  role: z.enum(['user', 'operator']).default('user'),
});

/** Operators make users, and links by which users who never signed in do so for the first time. */
export function invitationRoutes(context: OperatorContext): readonly ConsoleRoute[] {
  return [
    defineRoute({
      method: 'POST',
      path: 'operator/users',
      role: 'operator',
      input: invitationInput,
      perMinute: 60,
      handle: (request) => create(context, request),
    }),
    defineRoute({
      method: 'POST',
      path: 'operator/users/:user/link',
      role: 'operator',
      perMinute: 60,
      handle: (request) => inviteAgain(context, request),
    }),
  ];
}

/** A form sent twice makes one user; the second answer has another link. Either works, once. */
async function create(
  context: OperatorContext,
  request: SignedInRequest<z.output<typeof invitationInput>>,
): Promise<Invitation> {
  const { input, at, headers, user, reply } = request;
  const form = `${user.id} ${idempotencyKeyIn(headers)}`;
  const inviteOnce = () =>
    context.database.transact(function* () {
      if (!(yield* stillOperator(user.id))) throwProblem('operator_only');
      const known = yield* userMadeWith(form);
      if (known !== undefined) return yield* linkOfForm(request, known);
      const { id } = yield* enrol(input.name, input.role, at);
      yield* rememberForm(id, form);
      const after = { name: input.name, role: input.role };
      const act = { action: 'user.create', target: `user:${id}`, account: id, after };
      yield* writeAudit(at, { ...byOperator(request), ...act });
      return { id, ...(yield* linkFor(request, id)) };
    });
  const { id, ...link } = await inviteOnce().catch((error: unknown) => {
    // The same form was sent twice at once: the other one has made the user.
    if (error instanceof DatabaseError && error.kind === 'constraint') return inviteOnce();
    throw error;
  });
  reply.status(201);
  return { user: await userView(context, id, at), ...link };
}

/** The link of a form that is sent again; refused when the form asks for another user. */
function* linkOfForm(
  request: SignedInRequest<z.output<typeof invitationInput>>,
  id: string,
): Transaction<Omit<Invitation, 'user'> & { readonly id: string }> {
  const { name, role } = request.input;
  const [found] = yield* userPage({ id, limit: 1 });
  if (found?.user.name !== name || found.user.role !== role)
    throwProblem('conflict', { message: 'This idempotency-key was used for another request.' });
  return { id, ...(yield* linkFor(request, id)) };
}

/** Makes another link for a user who never signed in. */
async function inviteAgain(
  context: OperatorContext,
  request: SignedInRequest,
): Promise<Invitation> {
  const { params, at, user, reply } = request;
  const id = params['user'] ?? '';
  const link = await context.database.transact(function* () {
    if (!(yield* stillOperator(user.id))) throwProblem('operator_only');
    return yield* linkFor(request, id);
  });
  reply.status(201);
  return { user: await userView(context, id, at), ...link };
}

/** The link of a new invitation. Refuses a user who has signed in before. */
function* linkFor(
  request: SignedInRequest<unknown>,
  id: string,
): Transaction<Omit<Invitation, 'user'>> {
  const { at } = request;
  const [found] = yield* userPage({ id, limit: 1 });
  if (found === undefined) return throwProblem('not_found');
  if (found.signIns.length > 0 || found.signedInAt !== undefined) throwProblem('signed_in_before');
  const link = (yield* makeLink(id, at, invitationLifeMs)) ?? throwProblem('not_found');
  const act = { action: 'sign_in_link.create', target: `user:${id}`, account: id };
  yield* writeAudit(at, { ...byOperator(request), ...act });
  return { path: linkAddress('', link.secret), expires_at: instant(link.expiresAt) };
}
