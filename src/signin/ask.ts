import type * as z from 'zod';
import { callControl } from '../http/control.ts';
import type { NoPerson } from './provider.ts';

/** A call to a provider, and what its answer must hold. */
export interface Call<Answer> {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly answer: z.ZodType<Answer>;
  /** What the provider says in place of an answer: its own word for it. */
  readonly refused: z.ZodType<string>;
}

const statusOver = 500;

/**
 * Asks once. Providers answer 200 to much that they refuse, so that the members decide. No secret
 * is in `why`.
 */
export async function ask<Answer>({
  url,
  answer,
  refused,
  ...call
}: Call<Answer>): Promise<{ readonly answer: Answer } | NoPerson> {
  const { origin, pathname } = new URL(url);
  const where = `${call.method} ${origin}${pathname}`;
  try {
    const { status, bytes } = await callControl(url, call);
    if (status >= statusOver) return { fault: 'unreachable', why: `${where} answered ${status}` };
    const json: unknown = JSON.parse(bytes.toString('utf8'));
    const no = refused.safeParse(json);
    if (no.success) return { fault: 'refused', why: `${where} answered ${status} ${no.data}` };
    const read = answer.safeParse(json);
    if (read.success && status === 200) return { answer: read.data };
    return { fault: 'unreachable', why: `${where} answered ${status} without what was asked for` };
  } catch (error) {
    return {
      fault: 'unreachable',
      why: `${where}: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}
