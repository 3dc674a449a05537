import { refuse } from '../base/refusal.ts';
import { offerTo } from '../gateway/allowed.ts';
import { countInput } from '../gateway/inquire.ts';
import type { Parts } from '../gateway/parts.ts';
import { run } from '../gateway/run.ts';
import type { Submissions } from '../gateway/submissions.ts';
import { summaryTask } from '../providers/bridges/compaction.ts';
import type { ResponseMemory } from '../recall/responses.ts';
import { parseJson } from './check.ts';
import type { Endpoint, Visit } from './door.ts';
import { once } from './idempotency.ts';
import { parseInput, parseResponse, responsesFormat } from './responses.ts';
import { runInBackground } from './responses-background.ts';
import { keptFrom, recall } from './responses-recall.ts';
import { storedEndpoints } from './responses-stored.ts';

/** `/v1/responses`, row by row. */
export function responsesEndpoints(
  parts: Parts,
  memory: ResponseMemory,
  submissions: Submissions,
): readonly Endpoint[] {
  return [
    once(submissions, {
      method: 'POST',
      path: '/responses',
      handle: (visit) => create(parts, memory, visit),
    }),
    {
      method: 'POST',
      path: '/responses/input_tokens',
      handle: (visit) => inputTokens(parts, memory, visit),
    },
    {
      method: 'POST',
      path: '/responses/compact',
      handle: (visit) => compact(parts, memory, visit),
    },
    ...storedEndpoints(memory),
  ];
}

async function create(
  parts: Parts,
  memory: ResponseMemory,
  { id, principal, request, reply }: Visit,
): Promise<void> {
  const sent = parseJson(request.body, request.headers['content-type']);
  const alone = parseResponse(id, principal, sent.body, sent.bytes);
  const { body, bytes, own } = await recall(memory, principal.userId, sent.body, sent.bytes);
  const asked = body === sent.body ? alone : parseResponse(id, principal, body, bytes);
  if (body['background'] === true && !asked.stream)
    return runInBackground(parts, memory, asked, own(), reply);
  if (body['store'] === false) return run(parts, asked, reply, responsesFormat);
  const keep = async (last: Buffer): Promise<void> => {
    const kept = keptFrom(last, own());
    if (kept) await memory.keep(principal.userId, kept);
  };
  return run(parts, Object.assign({}, asked, { keep }), reply, responsesFormat);
}

/**
 * POST /v1/responses/input_tokens: as the vendor counts where it tells, else counted here; free.
 */
async function inputTokens(
  parts: Parts,
  memory: ResponseMemory,
  { id, principal, request, reply }: Visit,
): Promise<void> {
  const sent = parseJson(request.body, request.headers['content-type']);
  parseInput(id, principal, sent.body, sent.bytes);
  const { body, bytes } = await recall(memory, principal.userId, sent.body, sent.bytes);
  return countInput(
    parts,
    parseInput(id, principal, body, bytes),
    reply,
    responsesFormat,
    renderCount,
  );
}

/**
 * POST /v1/responses/compact: a vendor that has it compacts, and only that vendor can read the
 * result; else the model summarizes the conversation.
 */
async function compact(
  parts: Parts,
  memory: ResponseMemory,
  { id, principal, request, reply }: Visit,
): Promise<void> {
  const sent = parseJson(request.body, request.headers['content-type']);
  const { model } = parseInput(id, principal, sent.body, sent.bytes);
  const offer = offerTo(parts.catalog(), principal, model);
  if (offer === undefined) refuse('model_not_found', { model, param: 'model' });
  if (!offer.candidates.some(({ channel }) => parts.lanes.of(channel).adapter('compact')))
    refuse('invalid_value', {
      param: 'model',
      why: `conversations with '${model}' cannot be compacted.`,
    });
  const { body, bytes } = await recall(memory, principal.userId, sent.body, sent.bytes);
  const asked = parseInput(id, principal, body, bytes);
  const text = (): string => `${summaryTask}\n${asked.text()}`;
  return run(parts, { ...asked, capability: 'compact', text }, reply, responsesFormat);
}

const renderCount = (tokens: number): string =>
  JSON.stringify({ object: 'response.input_tokens', input_tokens: tokens });
