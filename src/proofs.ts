import { taskProof } from './gateway/tasks/proof.ts';
import { paymentProof } from './payments/proof.ts';

/** What the rooms that use the ledger have to prove beside it, for `check`. */
export const proofs: Readonly<Record<string, string>> = { ...taskProof, ...paymentProof };
