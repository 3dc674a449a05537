import { expect } from 'vitest';
import type { Adapter, VendorRequest, VendorCall } from '../../src/providers/adapter.ts';
import { adaptersOf } from '../../src/providers/bridges/index.ts';
import { vendors } from '../../src/providers/index.ts';
import { isObject, listOf } from '../../src/base/json.ts';
import { vendorCall } from './vendor-call.ts';

// Requests of each client format to a vendor's model, and the adapter's result.

export type Body = Record<string, unknown>;
type Format = 'chat' | 'messages' | 'responses' | 'generate_content';

export const user = { role: 'user', content: 'Hi' };
export const weather = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object', properties: {} } },
};

export function callOf(body: Body, upstreamModel: string, format: Format = 'chat'): VendorCall {
  const whole = {
    model: 'public',
    ...(format === 'generate_content'
      ? {}
      : format === 'responses'
        ? { input: 'Hi' }
        : { messages: [user] }),
    ...body,
  };
  return vendorCall(whole, {
    upstreamModel,
    answerId: format === 'messages' ? 'msg_1' : format === 'responses' ? 'resp_1' : 'chatcmpl-1',
  });
}

export function adapterOf(vendor: string, format: Format): Adapter {
  const found = vendors.get(vendor);
  const adapter = found && adaptersOf(found)[format];
  if (adapter === undefined) throw new Error(`${vendor} does not speak ${format}`);
  return adapter;
}

export const ask = (
  vendor: string,
  model: string,
  body: Body,
  format: Format = 'chat',
): VendorRequest => adapterOf(vendor, format).ask(callOf(body, model, format));

/** The vendor's request, without the model and the one message. */
export function sent(vendor: string, model: string, body: Body, format: Format = 'chat'): Body {
  const { model: _, ...rest }: Body = JSON.parse(
    ask(vendor, model, body, format).body.toString('utf8'),
  );
  if (JSON.stringify(rest['messages']) === JSON.stringify([user])) delete rest['messages'];
  return rest;
}

/**
 * The members that the vendor itself refuses; the gateway calls it only when no channel takes the
 * request.
 */
export const untaken = (
  vendor: string,
  model: string,
  body: Body,
  format: Format = 'chat',
): string | undefined => ask(vendor, model, body, format).unsupported?.param;

export const dropped = (
  vendor: string,
  model: string,
  body: Body,
  format: Format = 'chat',
): readonly string[] => [...(ask(vendor, model, body, format).dropped ?? [])].sort();

/** The refusal's own text: the member, and the reason. */
export const refused = (param: string): unknown =>
  expect.objectContaining({ refusal: 'unsupported_parameter', param });

export const assistants = (body: Body): unknown[] =>
  listOf(body['messages']).filter((one) => isObject(one) && one['role'] === 'assistant');
