import { Refusal } from '../../base/refusal.ts';
import type { Offer } from '../../catalog/snapshot.ts';
import type { Adapter, VendorCall } from '../../providers/adapter.ts';
import type { Vendor } from '../../providers/vendor.ts';

/** What a chat model can do beside text. */
export interface ChatAbilities {
  /** Takes functions that it may call. */
  readonly tools: boolean;
  /** Thinks before it answers, or can be asked to. */
  readonly reasoning: boolean;
}

const none: ChatAbilities = { tools: false, reasoning: false };

/**
 * The abilities of a model over any of its channels. The vendors' adapters tell: each writes two
 * small requests, and an ability is there where its member is neither dropped nor refused.
 */
export function abilitiesOf(
  { model, candidates }: Pick<Offer, 'model' | 'candidates'>,
  vendors: ReadonlyMap<string, Pick<Vendor, 'adapters'>>,
): ChatAbilities {
  if (model.kind !== 'chat') return none;
  const over = [
    ...new Map(
      candidates.map((one) => [`${one.channel.vendor} ${one.upstreamModel}`, one]),
    ).values(),
  ];
  const takes = (member: string, value: unknown): boolean =>
    over.some(({ channel, upstreamModel }) => {
      const adapter = vendors.get(channel.vendor)?.adapters.chat;
      return adapter !== undefined && takesMember(adapter, upstreamModel, member, value);
    });
  return {
    tools: takes('tools', [
      { type: 'function', function: { name: 'f', parameters: noParameters } },
    ]),
    // Models that always think take no effort; the catalog knows their pace.
    reasoning: model.topSpeed !== undefined || takes('reasoning_effort', 'high'),
  };
}

const noParameters = { type: 'object', properties: {} };

function takesMember(adapter: Adapter, model: string, member: string, value: unknown): boolean {
  const body = { model, messages: [{ role: 'user', content: '?' }], [member]: value };
  const call: VendorCall = {
    body,
    bytes: Buffer.from(JSON.stringify(body)),
    publicModel: model,
    upstreamModel: model,
    stream: false,
    includeUsage: false,
    streamUpstream: false,
    outputTokensMax: undefined,
    answerId: 'chatcmpl-0',
    created: 0,
  };
  try {
    const { dropped = [], unsupported } = adapter.ask(adapter.translate?.(call) ?? call);
    return unsupported === undefined && !dropped.includes(member);
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}
