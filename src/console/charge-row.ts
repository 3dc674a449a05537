import type { Measure } from '../base/quantities.ts';
import type { Row, Script } from '../storage/database.ts';
import { linesOf, type RecordLine } from '../usage/record-lines.ts';
import type { ChargeRow, ChargeStatus, TokenMix } from './contract.ts';
import { unitOf } from './prices.ts';
import { instant, yuan } from './written.ts';

const inputs: readonly Measure[] = [
  'input',
  'cached_input',
  'cache_write_5m',
  'cache_write_1h',
  'audio_input',
  'image_input',
];
const outputs: readonly Measure[] = ['output', 'reasoning', 'audio_output', 'image_output'];

/** Tokens by class of what was metered, whoever added it up. */
export function mixOf(
  lines: readonly { readonly measure: Measure; readonly quantity: number }[],
): TokenMix {
  const sum = (...of: readonly Measure[]): number =>
    lines.reduce(
      (total, { measure, quantity }) => (of.includes(measure) ? total + quantity : total),
      0,
    );
  return {
    input: sum(...inputs),
    cached_input: sum('cached_input'),
    cache_write: sum('cache_write_5m', 'cache_write_1h'),
    output: sum(...outputs),
    reasoning: sum('reasoning'),
  };
}

const statuses: readonly ChargeStatus[] = ['ok', 'cut', 'left', 'length', 'error'];

/** A usage record as its owner sees it: without channel and vendor. */
export function chargeRow(row: Row, keyNames: ReadonlyMap<string, string>): ChargeRow {
  const lines = linesOf(String(row['lines']));
  const keyId = String(row['key_id']);
  // Without tokens in its lines (a request sold by the piece) the record's own count may still tell
  // of some.
  const mix = mixOf(lines);
  const told = { input: Number(row['input_tokens']), output: Number(row['output_tokens']) };
  const tokens = mix.input + mix.output > 0 ? mix : { ...mix, ...told };
  return {
    id: String(row['id']),
    at: instant(Number(row['finished_at'])),
    model: String(row['model']),
    kind: String(row['capability']),
    key_id: keyId,
    key_name: keyNames.get(keyId) ?? keyId,
    group: String(row['group_name']),
    status: statuses.find((status) => status === row['status']) ?? 'error',
    estimated: row['estimated'] === 1n,
    streamed: row['stream'] === 1n,
    tokens: tokens.input + tokens.output > 0 ? tokens : null,
    quantity: piecesOf(lines),
    first_byte_ms: row['first_byte_ms'] === null ? null : Number(row['first_byte_ms']),
    total_ms: Number(row['duration_ms']),
    cost: yuan(BigInt(row['cost'] ?? 0) - BigInt(row['shortfall'] ?? 0)),
  };
}

/** What is told beside tokens, or in their place; the request itself goes without saying. */
function piecesOf(lines: readonly RecordLine[]): ChargeRow['quantity'] {
  for (const { measure, quantity } of lines) {
    const unit = unitOf(measure);
    if (unit !== 'token' && unit !== 'request') return { amount: quantity, unit };
  }
  return null;
}

/** The names of keys of one user, deleted ones included. */
export function* keyNamesOf(
  userId: string,
  ids: readonly string[],
): Script<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return new Map();
  const places = wanted.map((_, index) => `$${index + 2}`).join();
  const rows = yield {
    sql: `SELECT id, name FROM api_keys WHERE user_id=$1 AND id IN (${places})`,
    params: [userId, ...wanted],
  };
  return new Map(rows.map((row) => [String(row['id']), String(row['name'])]));
}

/** Rows of records with the names of their keys. */
export function* chargeRows(userId: string, rows: readonly Row[]): Script<readonly ChargeRow[]> {
  const names = yield* keyNamesOf(
    userId,
    rows.map((row) => String(row['key_id'])),
  );
  return rows.map((row) => chargeRow(row, names));
}
