import type { VendorCall } from '../../src/providers/adapter.ts';

/** A client's request as an adapter gets it, whole and not streamed unless `over` says otherwise. */
export function vendorCall(
  body: Record<string, unknown>,
  over: Partial<VendorCall> = {},
): VendorCall {
  return {
    body,
    bytes: Buffer.from(JSON.stringify(body)),
    publicModel: 'public',
    upstreamModel: 'up',
    stream: false,
    includeUsage: false,
    streamUpstream: false,
    outputTokensMax: undefined,
    answerId: 'chatcmpl-1',
    created: 1,
    ...over,
  };
}

/** A chat request on its way to an adapter. */
export function chatCall(
  body: Record<string, unknown>,
  upstreamModel: string,
  over: Partial<VendorCall> = {},
): VendorCall {
  const whole = { model: 'public/model', messages: [{ role: 'user', content: 'Hi' }], ...body };
  return vendorCall(whole, {
    publicModel: 'public/model',
    upstreamModel,
    answerId: 'chatcmpl-abc',
    created: 1_700_000_000,
    ...over,
  });
}
