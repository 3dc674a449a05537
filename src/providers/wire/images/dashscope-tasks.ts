import type {
  Answer,
  Call,
  Later,
  LaterFault,
  Picture,
  PictureAdapter,
  PictureMisfit,
} from '../../adapter.ts';
import { dataUrl, sizeText, wishOf } from '../../image-wish.ts';
import { listOf, objectOf, parse, textOf } from '../json.ts';
import { sanitise } from '../../vendor-words.ts';
import { faultWithin, protocolFault } from '../openai-chat-fault.ts';
import type { FaultRule } from '../openai-chat-quirks.ts';
import { extras } from './extras.ts';
import { ended, faultsOf, getAsk, jsonAsk, made, moderated, partsOf } from './made.ts';
import { fitted } from './sizes.ts';

/**
 * help.aliyun.com/zh/model-studio/text-to-image-v2-api-reference, 2026-08: sides from 512 to 1440
 * until wan2.5, which takes more.
 */
const sides = { step: 16, least: 512, most: 1_440, pixels: 2_073_600 } as const;
const picturesAtOnce = 4;
const known = { seed: 'number', prompt_extend: 'flag', watermark: 'flag' } as const;

const services = '/../../api/v1/services/aigc';

/**
 * Models of the vendor's that are not answered at once (`X-DashScope-Async`): a task, asked for
 * until it has succeeded.
 */
export function dashscopeTasks(faults: readonly FaultRule[]): PictureAdapter {
  const { fault, polled } = faultsOf(faults);
  return {
    ask: (call) => {
      const { prompt, n, size, images } = wishOf(call);
      const [image] = images;
      const negative = extras(call, { negative_prompt: 'text' });
      const way = image === undefined ? 'text2image' : 'image2image';
      const body = {
        model: call.upstreamModel,
        input: {
          prompt,
          ...negative,
          ...(image === undefined ? {} : { images: images.map(dataUrl) }),
        },
        parameters: {
          n,
          ...(size === undefined ? {} : { size: sizeText(fitted(size, sides), '*') }),
          ...extras(call, known),
        },
      };
      return jsonAsk(`${services}/${way}/image-synthesis`, body, { 'x-dashscope-async': 'enable' });
    },
    parts: (call) => partsOf(call, picturesAtOnce),
    misfit,
    read: (reply) => accepted(reply, faults, polled),
    answersLater: () => true,
    fault,
  };
}

function misfit(call: Call): PictureMisfit | undefined {
  const { mask, images } = wishOf(call);
  if (images.length > 3) return { param: 'image', why: 'This model takes at most 3 pictures.' };
  return (
    mask && {
      param: 'mask',
      why: 'This model takes no mask: describe in the prompt what is to change.',
    }
  );
}

const afterMs = 1_000;

function accepted(
  reply: Buffer,
  faults: readonly FaultRule[],
  fault: NonNullable<Later['fault']>,
): Later | LaterFault {
  const id = textOf(objectOf(objectOf(parse(reply.toString('utf8')))?.['output'])?.['task_id']);
  if (id === undefined) return protocolFault('an answer without the id of a task');
  const path = `/../../api/v1/tasks/${encodeURIComponent(id)}`;
  const later: Later = {
    ask: getAsk(path),
    afterMs,
    read: (told, _, call) => stateOf(told, id, call, later, faults),
    fault,
    // Taken back while it waits; refused once it runs.
    cancel: jsonAsk(`${path}/cancel`, {}),
  };
  return later;
}

function stateOf(
  reply: Buffer,
  id: string,
  call: Call,
  later: Later,
  faults: readonly FaultRule[],
): Answer | Later | LaterFault {
  const output = objectOf(objectOf(parse(reply.toString('utf8')))?.['output']);
  const status = textOf(output?.['task_status']);
  if (status === 'PENDING' || status === 'RUNNING' || status === 'SUSPENDED') return later;
  if (status === 'FAILED' || status === 'CANCELED')
    return failed(textOf(output?.['code']) ?? status, textOf(output?.['message']) ?? '', faults);
  if (status !== 'SUCCEEDED') return protocolFault(`the status '${status}'`);
  const results = listOf(output?.['results']).map((one) => objectOf(one) ?? {});
  const pictures = results.flatMap(({ url, actual_prompt: revised }): Picture[] =>
    typeof url === 'string' ? [{ from: { url }, revisedPrompt: textOf(revised) }] : [],
  );
  const [refused] = results;
  if (pictures.length === 0 && refused !== undefined)
    return failed(textOf(refused['code']) ?? '', textOf(refused['message']) ?? '', faults);
  const answer = made(call, pictures, id);
  return 'kind' in answer ? ended(answer) : answer;
}

function failed(code: string, message: string, faults: readonly FaultRule[]): LaterFault {
  const fault = faultWithin({ error: { code, message } }, { faults }) ?? {
    kind: 'server_error',
    message: sanitise(message),
  };
  return fault.kind === 'content_policy' ? moderated(fault.message) : ended(fault);
}
