import { describe, expect, it } from 'vitest';
import { parseChat } from '../src/api/chat.ts';
import { parseCompletion } from '../src/api/completions.ts';
import { parseMessages } from '../src/api/messages.ts';
import { parseResponse } from '../src/api/responses.ts';
import { parseEmbeddings, parseRerank } from '../src/api/vectors.ts';
import type { Quantities } from '../src/base/quantities.ts';
import { type Bundled, defaultUsdRatePpm, loadBundled } from '../src/catalog/bundled.ts';
import { inputTokens, outputTokens, type Price, tariffOf } from '../src/catalog/price.ts';
import type { Model } from '../src/catalog/snapshot.ts';
import type { ApiRequest } from '../src/gateway/api-request.ts';
import { type Admission, countText, sizeInTokens, tokensPerMedium } from '../src/gateway/admit.ts';
import {
  type BoundBasis,
  boundUsage,
  isCountable,
  isWithin,
  outputTokensMaxOf,
  thinkingTokensMaxOf,
} from '../src/gateway/pricing/bound.ts';
import { ReservedFunds } from '../src/gateway/reserve.ts';
import type { Adapter, VendorCall, StreamMeter, WholeAdapter } from '../src/providers/adapter.ts';
import { adaptersOf } from '../src/providers/bridges/index.ts';
import { isFault } from '../src/providers/formats/fault.ts';
import { vendors } from '../src/providers/index.ts';
import type { Vendor } from '../src/providers/vendor.ts';
import { chatRequest as cohereRequest } from './cohere-meaning.ts';
import { chatRequest as converseRequest } from './converse-meaning.ts';
import { chatRequest as geminiRequest } from './gemini-meaning.ts';
import { type Recording, recordingsAt, recordingsFolder } from './recorded-traffic.ts';
import { callAs } from './replay.ts';
import { embeddingRequest } from './vector-meaning.ts';
import { context as anyone, sentJson, unlessRefused } from './support/parsed-request.ts';

/**
 * Every recorded answer with its recorded request, at our adapters, against the bound that charges
 * are held to.
 */
const price: Price = { rates: { input: 1n, output: 1n }, tiers: [], by: undefined };
const tariff = tariffOf(price, 1_000_000n);
type Dict = Record<string, unknown>;
type Parse = (body: Dict) => ApiRequest;

/** How a recorded request comes in at our door, and who reads its answer. */
interface Side {
  readonly endpoint: string;
  readonly capability: 'chat' | 'messages' | 'responses' | 'completions' | 'embeddings' | 'rerank';
  /** Who speaks this format at home. */
  readonly home: string;
  readonly asked: (recording: Recording) => Dict | undefined;
  readonly parse: Parse;
}

const own = ({ request }: Recording): Dict | undefined => request && { ...request };
const context = { ...anyone, id: 'req_0000000000000' };
const chat: Parse = (body) => parseChat(context, sentJson(body));
const sides: readonly Side[] = [
  { endpoint: 'chat', capability: 'chat', home: 'openai-compatible', asked: own, parse: chat },
  {
    endpoint: 'messages',
    capability: 'messages',
    home: 'anthropic',
    asked: own,
    parse: (body) => parseMessages(context, sentJson(body)),
  },
  {
    endpoint: 'responses',
    capability: 'responses',
    home: 'openai',
    asked: own,
    parse: (body) => parseResponse(context, sentJson(body)),
  },
  {
    endpoint: 'gemini',
    capability: 'chat',
    home: 'gemini',
    asked({ request, url }) {
      const { cachedContent: cached, ...native } = { ...request };
      const said = geminiRequest(native, url);
      return said && cached !== undefined ? { ...said, cached_content: cached } : said;
    },
    parse: chat,
  },
  {
    endpoint: 'converse',
    capability: 'chat',
    home: 'bedrock',
    asked: ({ request }) => converseRequest({ ...request }),
    parse: chat,
  },
  {
    endpoint: 'nativechat',
    capability: 'chat',
    home: 'cohere',
    asked: ({ request }) => cohereRequest({ ...request }),
    parse: chat,
  },
  {
    endpoint: 'completion',
    capability: 'completions',
    home: 'openai-compatible',
    asked: own,
    parse: (body) => parseCompletion(context, sentJson(body)),
  },
  {
    endpoint: 'embedding',
    capability: 'embeddings',
    home: 'openai-compatible',
    asked: embeddingRequest,
    parse: (body) => parseEmbeddings(context, sentJson(body)),
  },
  {
    endpoint: 'rerank',
    capability: 'rerank',
    home: 'cohere',
    asked: own,
    parse: (body) => parseRerank(context, sentJson(body)),
  },
];

/**
 * Vendors that we do not know by name, or that speak another format at home, are played by the one
 * whose format it is.
 */
function playerOf({ vendor }: Recording, side: Side): Vendor {
  const known = vendors.get(vendor);
  const home = vendors.get(side.home);
  if (home === undefined) throw new Error(`nobody plays ${side.home}`);
  const speaks = known?.adapters[side.capability];
  const foreign = side.capability === 'chat' && side.endpoint !== 'chat';
  if (known === undefined || speaks === undefined || foreign) return home;
  if (side.endpoint === 'chat' && 'ask' in speaks && !/chat\/completions/.test(pathOf(speaks)))
    return home;
  return known;
}

function pathOf(adapter: Adapter | WholeAdapter): string {
  const body = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] };
  return adapter.ask(callAs({ streamed: false }, body, 'm')).path;
}

const modelNamed = ({ request, url }: Recording): string =>
  typeof request?.['model'] === 'string'
    ? request['model']
    : decodeURIComponent(/\/models?\/([^:/?]+)/.exec(url)?.[1] ?? 'unknown').replace(
        /^(us|eu|apac|global)\./,
        '',
      );

/** As the catalog knows it; what it does not know has no limits. */
function modelOf(bundled: Bundled, recording: Recording): Model {
  const name = modelNamed(recording);
  const known =
    bundled.get(name) ?? [...bundled.values()].find(({ upstream }) => upstream === name);
  const unknown = {
    id: name,
    ownedBy: '',
    kind: 'chat' as const,
    context: undefined,
    outputTokensMax: undefined,
    modalities: undefined,
  };
  return {
    ...(known?.facts ?? {
      ...unknown,
      topSpeed: undefined,
      durations: undefined,
      shutdownDate: undefined,
      price,
    }),
    created: 0,
  };
}

interface Heard {
  readonly quantities: Quantities | undefined;
  readonly outputBytes: number;
}

function heard(
  recording: Recording,
  adapter: Adapter | WholeAdapter,
  call: VendorCall,
): Heard | undefined {
  if (!recording.streamed) {
    const answer = adapter.read(recording.reply, 'application/json', call);
    return isFault(answer) ? undefined : { quantities: answer.quantities, outputBytes: 0 };
  }
  if (!('stream' in adapter)) return undefined;
  const translator = adapter.stream(call);
  translator.push(recording.reply);
  translator.end();
  const meter: StreamMeter = translator.meter;
  return { quantities: meter.quantities, outputBytes: meter.outputBytes };
}

function boundsOf(
  request: ApiRequest,
  model: Model,
  vendor: Vendor,
  upstreamModel: string,
): BoundBasis & { readonly funds: ReservedFunds } {
  const media = { inputTokens: request.mediaCount * tokensPerMedium, output: false };
  const offer = {
    model,
    price,
    tariff,
    candidates: [],
    group: {
      name: 'g',
      multiplierPpm: 1_000_000n,
      limits: { rpm: undefined, tpm: undefined, concurrency: undefined },
    },
  };
  const admitted: Admission = {
    offer,
    tariff,
    textTokens: sizeInTokens(request),
    media,
    outputTokens: 1,
    pass: { requests: undefined, tokens: undefined, finish: () => {} },
  };
  const none = () => Promise.reject(new Error('nobody pays here'));
  const reservation = {
    amount: 1_000_000_000_000n,
    extend: () => 0n,
    extendOrWait: none,
    settle: none,
    release: () => {},
  };
  const funds = new ReservedFunds(reservation, admitted, 1, outputTokensMaxOf(request, admitted));
  if (vendor.thinksBeyondLimit === true)
    funds.allowThinking(thinkingTokensMaxOf(request, admitted));
  funds.readsBeyond = vendor.readsBeyond?.(upstreamModel) ?? false;
  return { request, admitted, funds };
}

/** What the measured tolerances rest on: docs/decisions/0021-bounded-by-the-request.md. */
const figures = {
  judged: 0,
  exact: 0,
  uncounted: 0,
  added: 0,
  factor: 0,
  bytesPerToken: 0,
  beyondLimit: 0,
  least: 0,
};

async function measure(
  { request, admitted, funds: { readsBeyond } }: BoundBasis,
  quantities: Quantities,
  outputBytes: number,
): Promise<void> {
  const input = inputTokens(quantities);
  const output = outputTokens(quantities);
  if (output > 64 && outputBytes > 0)
    figures.bytesPerToken = Math.max(figures.bytesPerToken, outputBytes / output);
  const limit = request.outputTokensRequested ?? Number.POSITIVE_INFINITY;
  const answered = output - (quantities.reasoning ?? 0);
  if (answered > limit * Math.max(1, request.choices) && limit >= 16)
    figures.beyondLimit = Math.max(figures.beyondLimit, answered - limit);
  if (answered > limit && limit < 16) figures.least = Math.max(figures.least, answered);
  if (readsBeyond || !isCountable(request)) figures.uncounted += 1;
  else if (request.mediaCount === 0) {
    const text = await countText(admitted, request);
    figures.added = Math.max(figures.added, input - Math.max(sizeInTokens(request), text));
    if (text > 1_000) figures.factor = Math.max(figures.factor, input / text);
  }
}

async function judge(
  bundled: Bundled,
  side: Side,
  recording: Recording,
): Promise<string | undefined> {
  if (recording.status >= 400 || recording.reply.length === 0) return undefined;
  const asked = side.asked(recording);
  if (asked === undefined) return undefined;
  const body: Dict = { ...asked, model: 'public/model' };
  const request = unlessRefused(() => side.parse(body));
  // A refused request can cost nothing.
  if (request === undefined) return undefined;
  const vendor = playerOf(recording, side);
  const adapter = adaptersOf(vendor)[side.capability];
  if (adapter === undefined) return undefined;
  const call = callAs(recording, body, modelNamed(recording));
  const { quantities, outputBytes } = heard(recording, adapter, call) ?? {};
  if (quantities === undefined || outputBytes === undefined) return undefined;
  const by = vendors.get(recording.vendor) ?? vendor;
  const bounds = boundsOf(request, modelOf(bundled, recording), by, modelNamed(recording));
  figures.judged += 1;
  await measure(bounds, quantities, outputBytes);
  const { funds } = bounds;
  if (funds.isPast(outputBytes))
    return `${outputBytes} bytes for at most ${funds.outputTokensMax} tokens`;
  if (isWithin(bounds, quantities)) return undefined;
  figures.exact += 1;
  const { reported, quantities: charged } = await boundUsage(bounds, quantities);
  if (reported === undefined) return undefined;
  return `${modelNamed(recording)} reported ${JSON.stringify(reported)}, charged ${JSON.stringify(charged)}`;
}

describe.skipIf(recordingsFolder === undefined)(
  'R2: the bound, held against recorded traffic',
  () => {
    it.each(sides.map((side) => [side.endpoint, side] as const))(
      'cuts and caps no answer of %s',
      async (endpoint, side) => {
        const bundled = await loadBundled({ usdRatePpm: defaultUsdRatePpm, today: '2026-11-22' });
        const all = recordingsFolder === undefined ? [] : recordingsAt(recordingsFolder, endpoint);
        const wrong: string[] = [];
        for (const recording of all) {
          const why = await judge(bundled, side, recording);
          if (why !== undefined) wrong.push(`${recording.id} ${recording.source}: ${why}`);
        }
        expect(wrong).toEqual([]);
      },
      180_000,
    );

    it('has judged nearly all that tell a usage', () => {
      process.stdout.write(`bounds of recorded answers: ${JSON.stringify(figures)}\n`);
      expect(figures.judged).toBeGreaterThan(3_000);
    });
  },
);
