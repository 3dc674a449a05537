import type { VendorCall } from '../../src/providers/adapter.ts';

/** A chat request on its way to an adapter. */
export function chatCall(
  body: Record<string, unknown>,
  upstreamModel: string,
  over: Partial<VendorCall> = {},
): VendorCall {
  const whole = { model: 'public/model', messages: [{ role: 'user', content: 'Hi' }], ...body };
  return {
    body: whole,
    bytes: Buffer.from(JSON.stringify(whole)),
    publicModel: 'public/model',
    upstreamModel,
    stream: false,
    includeUsage: false,
    streamUpstream: false,
    outputTokensMax: undefined,
    answerId: 'chatcmpl-abc',
    created: 1_700_000_000,
    ...over,
  };
}
