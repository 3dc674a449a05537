import { Refusal } from '../../src/base/refusal.ts';
import { recordedRequests, type RecordedRequest } from '../recorded-traffic.ts';
import { violations } from '../vendor-schemas/index.ts';
import { type Json, objectsOf } from '../vendor-schemas/shape.ts';
import { asked, fixedOrder, type Format, requiredMember } from './asking.ts';
import { lost } from './arrives.ts';
import { matrixTargets, type Target } from './targets.ts';

const requestsPerFormat = 100;

/**
 * Recorded requests that a client could send to another model: without state of the first vendor.
 */
function portable({ body }: RecordedRequest): boolean {
  if (
    body['previous_response_id'] ||
    body['conversation'] ||
    body['prompt'] ||
    body['container'] ||
    body['background'] === true
  )
    return false;
  return !objectsOf(body['input']).some(({ type }) => type === 'item_reference');
}

/**
 * A tool call without a result. Most vendors refuse such a conversation from any client, so it does
 * not test the gateway.
 */
function unanswered({ body }: RecordedRequest): boolean {
  const messages = objectsOf(body['messages']);
  const answered = new Set(messages.map(({ tool_call_id }) => tool_call_id));
  return messages.some(({ tool_calls }) =>
    objectsOf(tool_calls).some(({ id }) => id !== undefined && !answered.has(id)),
  );
}

/** Requests with the vendor's own tools or files: no other model can take them. */
function bound({ body }: RecordedRequest): boolean {
  const tools = objectsOf(body['tools']);
  const hosted = tools.some(
    ({ type, input_schema }) =>
      type !== undefined && type !== 'function' && type !== 'custom' && input_schema === undefined,
  );
  const server =
    /"type":"(?:server_tool_use|mcp_tool_use|web_search_call|web_search_tool_result|tool_search_call|tool_search_output|additional_tools|code_interpreter_call|mcp_call|mcp_list_tools|image_generation_call|file_search_call|computer_call|compaction|container_upload|[a-z_]*tool_result_error|bash_code_execution_tool_result|tool_reference|tool_addition)"/;
  const said = JSON.stringify(body);
  return (
    hosted ||
    server.test(said) ||
    /"file_id":/.test(said) ||
    body['mcp_servers'] !== undefined ||
    body['web_search_options'] !== undefined ||
    tools.some(({ defer_loading }) => defer_loading === true)
  );
}

/**
 * The fixed choice: requests are grouped by the rarest top-level member that they have, each group
 * gives its share of the hundred (the largest remainders are rounded up), and within a group the
 * lowest hashes of the ids are taken.
 */
function chosen(all: readonly RecordedRequest[]): RecordedRequest[] {
  const count = new Map<string, number>();
  const membersOf = ({ body }: RecordedRequest): string[] =>
    Object.keys(body).filter((name) => body[name] !== null);
  for (const one of all)
    for (const member of membersOf(one)) count.set(member, (count.get(member) ?? 0) + 1);
  const groups = new Map<string, RecordedRequest[]>();
  for (const one of all) {
    const rarest =
      membersOf(one).toSorted(
        (a, b) => (count.get(a) ?? 0) - (count.get(b) ?? 0) || (a < b ? -1 : 1),
      )[0] ?? '';
    groups.set(rarest, [...(groups.get(rarest) ?? []), one]);
  }
  const shares = [...groups].map(([name, group]) => ({
    name,
    group,
    share: (group.length * requestsPerFormat) / all.length,
  }));
  let left = requestsPerFormat - shares.reduce((sum, { share }) => sum + Math.floor(share), 0);
  const byRemainder = shares.toSorted(
    (a, b) => (b.share % 1) - (a.share % 1) || (a.name < b.name ? -1 : 1),
  );
  return byRemainder.flatMap(({ group, share }) => {
    const take = Math.floor(share) + (left-- > 0 ? 1 : 0);
    return group.toSorted((a, b) => (fixedOrder(a.id) < fixedOrder(b.id) ? -1 : 1)).slice(0, take);
  });
}

/**
 * The vendors whose clients write the format as its author defines it; other vendors have members
 * of their own.
 */
const authors: Readonly<Record<Format, ReadonlySet<string>>> = {
  chat: new Set([
    'openai',
    'azure',
    'groq',
    'mistral',
    'deepseek',
    'xai',
    'cerebras',
    'zhipu',
    'together',
    'ollama',
    'huggingface',
    'openrouter',
  ]),
  responses: new Set(['openai', 'azure', 'xai', 'chatgpt-codex', 'copilot', 'deepseek']),
  messages: new Set(['anthropic', 'azure']),
};

export function requestsOf(folder: string, format: Format): RecordedRequest[] {
  const all = recordedRequests(folder).filter(
    (one) =>
      one.endpoint === format &&
      one.status < 300 &&
      authors[format].has(one.vendor) &&
      one.body[requiredMember[format]] !== undefined,
  );
  return chosen(all.filter((one) => portable(one)));
}

export type Verdict = 'fine' | 'refused' | 'wrong';
export interface Cell {
  readonly id: string;
  readonly target: Target;
  readonly verdict: Verdict;
  /** The refusal's message, or the violations and losses. */
  readonly why: readonly string[];
  /**
   * No other model can take it: it has tools that the vendor runs, files by id, media that the
   * model does not take, or calls without a result.
   */
  readonly bound: boolean;
  /** A demanded refusal: of `n` or of probabilities, by name, since other models take them. */
  readonly demanded: boolean;
}

/**
 * Members that a vendor may lack, and that must not be dropped silently: several answers, and token
 * probabilities. The gateway's refusal lists the models that take them. It finds these as `taken`
 * does here (`src/gateway/models/alternatives.ts`; `test/takes.test.ts` checks the texts).
 */
const demandedMembers: ReadonlySet<string> = new Set(['n', 'logprobs', 'top_logprobs']);
const isDemanded = (param: string, format: Format, body: Json): boolean =>
  demandedMembers.has(param) && matrixTargets.some(taken(format, body));
const taken =
  (format: Format, body: Json) =>
  (target: Target): boolean => {
    const sent = asked(format, body, target);
    return !(sent instanceof Refusal) && sent.ask.unsupported === undefined;
  };

export function judge(format: Format, request: RecordedRequest, target: Target): Cell {
  const cell = {
    id: request.id,
    target,
    bound: bound(request) || unanswered(request),
    demanded: false,
  };
  const { stream_options: _, ...rest } = request.body;
  // Only a stream has options; recordings of other vendors have them without.
  const body = request.body['stream'] === true ? request.body : rest;
  const sent = asked(format, body, target, request.headers);
  if (sent instanceof Refusal)
    return {
      ...cell,
      bound: cell.bound || sent.refusal === 'unsupported_content',
      verdict: 'refused',
      why: [`${sent.param ?? 'no param'}: ${sent.message}`],
      demanded:
        sent.message.includes(`'${sent.param}'`) && isDemanded(sent.param ?? '', format, body),
    };
  // The gateway tries other channels for such a request first, and then refuses it.
  const { unsupported: untaken } = sent.ask;
  if (untaken !== undefined) {
    const demanded = isDemanded(untaken.param, format, body);
    return {
      ...cell,
      verdict: 'refused',
      why: [`${untaken.param}: by the vendor: ${untaken.why}`],
      demanded,
    };
  }
  const why = [
    ...violations(target.vendor, sent.ask.path, target.model, sent.ask.headers, sent.body),
    ...Object.keys(sent.call.body).flatMap((member) => lost(member, sent, target)),
  ];
  return { ...cell, verdict: why.length === 0 ? 'fine' : 'wrong', why };
}

export const matrixOf = (folder: string, format: Format): Cell[] =>
  requestsOf(folder, format).flatMap((request) =>
    matrixTargets.map((target) => judge(format, request, target)),
  );

/** The cells that any model could take. */
export const comparable = (cells: readonly Cell[]): Cell[] => cells.filter((cell) => !cell.bound);

/**
 * The comparable cells in numbers. `fineOfOthers` is the percentage without the demanded refusals.
 */
export interface Share {
  readonly fine: number;
  readonly refused: number;
  readonly demanded: number;
  readonly wrong: number;
  readonly fineOfAll: number;
  readonly fineOfOthers: number;
}

export function shareOf(cells: readonly Cell[]): Share {
  const all = comparable(cells);
  const count = (is: (cell: Cell) => boolean): number => all.filter(is).length;
  const fine = count(({ verdict }) => verdict === 'fine');
  const demanded = count((cell) => cell.demanded);
  return {
    fine,
    refused: count(({ verdict }) => verdict === 'refused') - demanded,
    demanded,
    wrong: count(({ verdict }) => verdict === 'wrong'),
    fineOfAll: (fine * 100) / Math.max(1, all.length),
    fineOfOthers: (fine * 100) / Math.max(1, all.length - demanded),
  };
}

export function share(cells: readonly Cell[]): string {
  const { fine, refused, demanded, wrong, fineOfAll, fineOfOthers } = shareOf(cells);
  const bound = cells.length - comparable(cells).length;
  const counts = `${fine} fine, ${refused} refused, ${demanded} refused as documented, ${wrong} outside the rules or lost`;
  const percent = `${fineOfAll.toFixed(1)} % fine, ${fineOfOthers.toFixed(1)} % without those refused as documented`;
  return `${percent} (${counts}; ${bound} more that no other model can have)`;
}
