import { uriEncoded } from '../../base/sigv4.ts';
import { askConverse } from './bedrock-converse-ask.ts';
import { converseFault } from './bedrock-converse-fault.ts';
import type { ChatCount } from './chat-count.ts';
import { objectOf, parse } from './json.ts';

/**
 * Names of places, which a model's id may begin with: those profiles are not counted for, the model
 * itself is (recorded).
 */
const place = /^(?:us|us-gov|eu|apac|jp|au|global)\./;

/**
 * Bedrock's CountTokens
 * (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CountTokens.html, 2026-08): for some
 * models only.
 */
export const converseCount: ChatCount = {
  ask(call) {
    const { headers, body } = askConverse({ ...call, streamUpstream: false });
    const {
      inferenceConfig: _,
      outputConfig: __,
      ...converse
    } = objectOf(parse(body.toString('utf8'))) ?? {};
    const path = `/model/${uriEncoded(call.upstreamModel.replace(place, ''))}/count-tokens`;
    return { path, headers, body: Buffer.from(JSON.stringify({ input: { converse } })) };
  },
  member: 'inputTokens',
  fault(status, headers, reply) {
    const fault = converseFault(status, headers, reply);
    // Another may count, and in the end we do.
    return /support counting tokens/i.test(fault.message)
      ? { ...fault, kind: 'unknown_model' }
      : fault;
  },
};
