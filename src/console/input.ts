import type { IncomingHttpHeaders } from 'node:http';
import * as z from 'zod';
import { nameCharactersMax } from '../accounts/text-fields.ts';
import { isDay } from '../base/calendar.ts';
import { parseYuan } from '../base/money.ts';
import { isPlainText } from '../base/plain-text.ts';
import { throwProblem } from './problem.ts';

/** Amounts in yuan from users: up to nine decimals, never negative. */
export const moneyInput = z.string().transform((text, context) => {
  const amount = parseYuan(text);
  if (amount !== undefined) return amount;
  context.addIssue({ code: 'custom', message: 'not_an_amount' });
  return z.NEVER;
});

/** An instant of the contract, as wall clock ms; undefined for other texts and before 1970. */
function parseInstant(text: string): number | undefined {
  const at = Date.parse(text);
  return /^\d{4}-\d{2}-\d{2}T/.test(text) && at >= 0 ? at : undefined;
}

export const timeInput = z.string().transform((text, context) => {
  const at = parseInstant(text);
  if (at !== undefined) return at;
  context.addIssue({ code: 'custom', message: 'not_a_time' });
  return z.NEVER;
});

export const dayInput = z.string().refine(isDay, 'not_a_day');

/** A text that people write. It is trimmed, and may not be empty. */
export const textInput = (charactersMax: number) =>
  z.string().trim().min(1, 'empty').max(charactersMax, 'too_long');

/** Names that people give to things: one line, without invisible characters. */
export const nameInput = textInput(nameCharactersMax).refine(isPlainText, 'invalid');

/** An operator's reason for an action, as the audit trail has it. */
export const reasonInput = textInput(500);

/**
 * The page of a list: the number of its items, and a cursor (`next` or `prev`) that another page
 * gave. Without a cursor: the first page.
 */
export const pageInput = {
  limit: z.coerce
    .number()
    .int('not_a_number')
    .min(1, 'too_small')
    .max(100, 'too_large')
    .default(50),
  after: z.string().optional(),
};

const backwards = /^-(\d{1,4})(h|d)$/;
const unitMs = { h: 3_600_000, d: 86_400_000 };

/** An instant, or `-7d`, `-24h` before now; returns a function from now to ms. */
export const relativeTimeInput = z
  .string()
  .transform((text, context): ((now: number) => number) => {
    const back = backwards.exec(text);
    const at = parseInstant(text);
    if (back !== null) return (now) => now - Number(back[1]) * unitMs[back[2] === 'h' ? 'h' : 'd'];
    if (at !== undefined) return () => at;
    context.addIssue({ code: 'custom', message: 'not_a_time' });
    return z.NEVER;
  });

/** The key made when a form was opened: a form sent twice makes one thing. */
export function idempotencyKeyIn({ 'idempotency-key': key }: IncomingHttpHeaders): string {
  return typeof key === 'string' && /^[\x21-\x7e]{8,200}$/.test(key)
    ? key
    : throwProblem('idempotency_key_missing');
}

/** The version of the object that the client has read: `if-match: 3`, with quotes or without. */
export function versionIn({ 'if-match': match }: IncomingHttpHeaders): number {
  const parts = /^"?(\d{1,15})"?$/.exec(match ?? '');
  return parts === null ? throwProblem('if_match_missing') : Number(parts[1]);
}
