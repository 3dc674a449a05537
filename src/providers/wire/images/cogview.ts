import type { Fault } from '../../../base/fault.ts';
import type { Answer, Call, PictureAdapter } from '../../adapter.ts';
import { sizeText, wishOf } from '../../image-wish.ts';
import { listOf, objectOf, parse, textOf } from '../json.ts';
import { protocolFault } from '../openai-chat-fault.ts';
import type { FaultRule } from '../openai-chat-quirks.ts';
import { extras } from './extras.ts';
import { faultsOf, jsonAsk, made, partsOf } from './made.ts';
import { fitted } from './sizes.ts';

/**
 * docs.bigmodel.cn/api-reference, generate image, 2026-08: sides from 512 to 2048, multiples of 16,
 * at most 2²¹ pixels together.
 */
const sides = { step: 16, least: 512, most: 2_048, pixels: 2_097_152 } as const;
const known = { watermark_enabled: 'flag', user_id: 'text' } as const;

/** CogView and GLM-Image: one picture of words at a time, at once, behind an address. */
export function cogView(faults: readonly FaultRule[]): PictureAdapter {
  return {
    ask: (call) => {
      const { prompt, size, quality } = wishOf(call);
      return jsonAsk('/images/generations', {
        model: call.upstreamModel,
        prompt,
        ...(size === undefined ? {} : { size: sizeText(fitted(size, sides)) }),
        ...(quality === undefined || quality === 'auto'
          ? {}
          : { quality: quality === 'hd' || quality === 'high' ? 'hd' : 'standard' }),
        ...extras(call, known),
      });
    },
    parts: (call) => partsOf(call, 1),
    read,
    fault: faultsOf(faults).fault,
  };
}

function read(reply: Buffer, _: string, call: Call): Answer | Fault {
  const body = objectOf(parse(reply.toString('utf8')));
  if (!Array.isArray(body?.['data'])) return protocolFault('an answer without data');
  const urls = listOf(body['data']).map((item) => textOf(objectOf(item)?.['url']));
  return made(
    call,
    urls.flatMap((url) => (url === undefined ? [] : [{ from: { url } }])),
    textOf(body['id']),
  );
}
