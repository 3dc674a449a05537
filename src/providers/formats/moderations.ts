import {
  editJsonBytes,
  jsonText,
  type Documented,
  type JsonObject,
  listOf,
  objectOf,
  parse,
  rawElements,
  rawInside,
  rawMembers,
  rawText,
  textOf,
} from '../../base/json.ts';
import type { Fault } from '../../base/fault.ts';
import type { VendorAnswer, VendorCall, WholeAdapter } from '../adapter.ts';
import { objectIn } from './reply.ts';
import { jsonHeaders } from './json-request.ts';
import { faultReader, faultWithin, protocolFault, type FaultRule } from './fault.ts';
import { readUsageObject } from './openai-chat/response.ts';

/** An answer (developers.openai.com/api/reference/moderations, 2026-08). */
interface ModerationAnswer {
  readonly id: string;
  readonly results: readonly unknown[];
  /** Mistral counts tokens. */
  readonly usage: JsonObject;
}

/** The verdict on one input (same section). */
interface ModerationResult {
  readonly flagged: boolean;
  readonly categories: Readonly<Record<string, boolean>>;
}

/**
 * The wire format of OpenAI's `/moderations` (developers.openai.com/api/reference/moderations,
 * 2026-08). Categories are passed on as the vendor names them: those of two vendors do not
 * correspond.
 */
export function openaiModerations({
  faults,
}: {
  readonly faults?: readonly FaultRule[];
} = {}): WholeAdapter {
  return {
    ask: (call) => ({
      path: '/moderations',
      headers: jsonHeaders,
      body: editJsonBytes(
        call.bytes,
        [{ path: ['model'], json: jsonText(call.upstreamModel) }],
        call.skeleton,
      ),
    }),
    read: (reply, _, call) => read(reply, call, faults),
    fault: faultReader(faults),
  };
}

function read(
  reply: Buffer,
  call: VendorCall,
  faults: readonly FaultRule[] | undefined,
): VendorAnswer | Fault {
  const body: Documented<ModerationAnswer> | undefined = objectIn(reply);
  if (body === undefined) return protocolFault('an answer that is no JSON object');
  const fault = faultWithin(body, faults);
  if (fault) return fault;
  if (listOf(body.results).length === 0) return protocolFault('an answer without results');
  const top = rawMembers(reply.toString('latin1').trim());
  const results = rawElements(top.get('results')).map(withVerdict);
  for (const name of ['id', 'model', 'results']) top.delete(name);
  const rest = rawInside(top);
  const usage = readUsageObject(body.usage);
  const head = `{"id":${jsonText(call.answerId)},"model":${jsonText(call.publicModel)}`;
  return {
    body: Buffer.from(`${head},"results":[${results.join(',')}]${rest && ','}${rest}}`, 'latin1'),
    quantities: usage?.changes.length === 0 ? usage.quantities : undefined,
    upstreamId: textOf(body.id),
    outputText: '',
  };
}

/** Adds `flagged` for Mistral, which sends the categories only. */
function withVerdict(result: string): string {
  const parsed: Documented<ModerationResult> | undefined = objectOf(parse(result));
  if (parsed === undefined || 'flagged' in parsed) return result;
  const categories = objectOf(parsed.categories) ?? {};
  const flagged = Object.values(categories).includes(true);
  return rawText(new Map([['flagged', String(flagged)], ...rawMembers(result)]));
}
