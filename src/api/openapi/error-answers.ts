import { type RefusalName, refusals } from '../../base/refusal.ts';
import { answered, oneOf, ref, type Schema, text } from './schema.ts';

export const errorSchemas: Readonly<Record<string, Schema>> = {
  Error: answered({
    error: answered(
      { message: text('What is wrong, for people.'), type: text('Its family.') },
      { param: text('The parameter at fault.'), code: text('What programs go by.') },
    ),
  }),
  MessagesError: answered({
    type: { type: 'string', const: 'error' },
    error: answered({ type: text('Its family.'), message: text('What is wrong, for people.') }),
    request_id: text('Names the request.'),
  }),
};

const names: readonly RefusalName[] = Object.keys(refusals).filter(
  (name): name is RefusalName => name in refusals,
);
const table: readonly {
  readonly name: RefusalName;
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly message: string;
}[] = names.map((name) => ({ name, ...refusals[name] }));

/** What passes by itself: the answer says when. */
const waits: ReadonlySet<RefusalName> = new Set([
  'rate_limit_requests',
  'rate_limit_tokens',
  'rate_limit_concurrency',
  'unavailable',
]);

/** Each status that we say no with: `404` → what it may mean, as the table of refusals has it. */
export const errorAnswers: Readonly<Record<string, object>> = Object.fromEntries(
  [...new Set(table.map(({ status }) => status))]
    .sort((a, b) => a - b)
    .map((status) => [`Error${status}`, answerOf(status)]),
);

function answerOf(status: number): object {
  const rows = table.filter((row) => row.status === status);
  const meanings = rows.map(
    ({ name, code, message }) =>
      `- \`${name}\`${code === null ? '' : ` (code \`${code}\`)`}: ${message}`,
  );
  const examples = rows.map(
    ({ name, type, code, message }) =>
      [name, { value: { error: { message, type, param: null, code } } }] as const,
  );
  return {
    description: meanings.join('\n'),
    headers: {
      'x-request-id': { $ref: '#/components/headers/x-request-id' },
      ...(rows.some(({ name }) => waits.has(name)) && {
        'retry-after': { $ref: '#/components/headers/retry-after' },
      }),
    },
    content: {
      'application/json': {
        schema: oneOf('In the shape of the endpoint’s format.', ref('Error'), ref('MessagesError')),
        examples: Object.fromEntries(examples),
      },
    },
  };
}
