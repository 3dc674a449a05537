import * as z from 'zod';
import { type KeyTerms, namedMax } from '../accounts/key-terms.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import { isNetwork } from '../http/client-address.ts';
import type { KeyTermsView } from './contract.ts';
import { fail } from './problem.ts';

const countMax = 1_000_000_000;
const count = z
  .number()
  .int('not_a_number')
  .min(1, 'too_small')
  .max(countMax, 'too_large')
  .nullish();

/** What confines a key, as its owner writes it: null or an empty list confines nothing. */
export const writtenTerms = {
  only_models: z.array(z.string()).max(namedMax, 'too_long').nullish(),
  addresses: z
    .array(z.string().trim())
    .max(namedMax, 'too_long')
    .refine((list) => list.every(isNetwork), 'not_an_address')
    .nullish(),
  rpm: count,
  tpm: count,
  concurrency: count,
};

type Written = z.output<z.ZodObject<typeof writtenTerms>>;

/**
 * What is written, and of `before` what is not. A model that the group does not sell would open
 * nothing.
 */
export function termsIn(
  written: Written,
  before: KeyTerms,
  group: string,
  catalog: Snapshot,
): KeyTerms {
  const models = listOf(written.only_models, before.models);
  const unsold = written.only_models?.some((model) => catalog.offer(group, model) === undefined);
  if (unsold === true) fail('invalid', { fields: { only_models: 'unknown' } });
  return {
    models,
    addresses: listOf(written.addresses, before.addresses),
    rpm: countOf(written.rpm, before.rpm),
    tpm: countOf(written.tpm, before.tpm),
    concurrency: countOf(written.concurrency, before.concurrency),
  };
}

export const termsView = ({
  models,
  addresses,
  rpm,
  tpm,
  concurrency,
}: KeyTerms): KeyTermsView => ({
  only_models: models ?? null,
  addresses: addresses ?? null,
  rpm: rpm ?? null,
  tpm: tpm ?? null,
  concurrency: concurrency ?? null,
});

/** The same for the trail, which knows texts. */
export const termFacts = ({ models, addresses, rpm, tpm, concurrency }: KeyTerms) => ({
  only_models: models?.join(', ') ?? null,
  addresses: addresses?.join(', ') ?? null,
  rpm: rpm?.toString() ?? null,
  tpm: tpm?.toString() ?? null,
  concurrency: concurrency?.toString() ?? null,
});

function listOf(
  written: readonly string[] | null | undefined,
  before: readonly string[] | undefined,
): readonly string[] | undefined {
  if (written === undefined) return before;
  return written === null || written.length === 0 ? undefined : [...new Set(written)];
}

const countOf = (
  written: number | null | undefined,
  before: number | undefined,
): number | undefined => (written === undefined ? before : (written ?? undefined));
