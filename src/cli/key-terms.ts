import { type KeyTerms, namedMax } from '../accounts/key-terms.ts';
import { modelNames } from '../catalog/recording.ts';
import { isNetwork } from '../http/client-address.ts';
import type { Database } from '../storage/database.ts';
import { Failure } from './output.ts';

export interface TermOptions {
  readonly models?: string;
  readonly addresses?: string;
  readonly rpm?: string;
  readonly tpm?: string;
  readonly concurrency?: string;
}

/**
 * What a key is to be confined to, as the options say it. A model that nobody sells would be a key
 * that opens nothing: it is told.
 */
export async function termsFrom(options: TermOptions, database: Database): Promise<KeyTerms> {
  const models = listOf('--models', options.models);
  const addresses = listOf('--addresses', options.addresses);
  const wrong = addresses?.find((address) => !isNetwork(address));
  if (wrong !== undefined)
    throw new Failure(`--addresses are addresses and networks such as 10.0.0.0/8, not '${wrong}'`);
  const known = models === undefined ? [] : await modelNames(database);
  const unknown = models?.find((model) => !known.includes(model));
  if (unknown !== undefined) throw new Failure(`there is no model '${unknown}'`);
  return {
    models,
    addresses,
    rpm: countOf('--rpm', options.rpm),
    tpm: countOf('--tpm', options.tpm),
    concurrency: countOf('--concurrency', options.concurrency),
  };
}

function listOf(option: string, text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined;
  const list = text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
  if (list.length === 0 || list.length > namedMax)
    throw new Failure(`${option} are one to ${namedMax}, with commas between`);
  return list;
}

function countOf(option: string, text: string | undefined): number | undefined {
  const count = text === undefined ? undefined : Number(text);
  if (count !== undefined && !(Number.isSafeInteger(count) && count > 0))
    throw new Failure(`${option} is a whole number from 1 on, not '${text}'`);
  return count;
}
