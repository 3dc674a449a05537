import { type Documented, listOf, textOf } from '../../../base/json.ts';
import {
  type VendorAnswer,
  type VendorCall,
  type PendingAnswer,
  type PendingFault,
  type ImageAdapter,
  type ImageMisfit,
  imageRequestOf,
} from '../../adapter.ts';
import { dataUrl } from '../../media-request.ts';
import { sanitizeVendorMessage } from '../../vendor-message.ts';
import { protocolFault } from '../fault.ts';
import { jsonRequest, getRequest } from '../json-request.ts';
import { objectIn } from '../reply.ts';
import { imagesMisfit, maskMisfit } from './misfit.ts';
import { extraMembers, nearestRatio, namingUnsent } from './request.ts';
import {
  finalAnswer,
  finalFault,
  faultReaders,
  moderationFault,
  splitByCount,
} from './response.ts';

/** A task, and its images once it has succeeded (docs.dev.runwayml.com/api, tasks, 2026-08). */
interface RunwayTask {
  readonly id: string;
  readonly status: string;
  readonly failure: string;
  readonly failureCode: string;
  readonly output: readonly string[];
}

/** Sent with each request: the date selects the version (docs.dev.runwayml.com/api, 2026-08). */
const version = { 'x-runway-version': '2024-11-06' } as const;

/**
 * docs.dev.runwayml.com/api, text_to_image, 2026-08: the shapes of an image as its sides. Those of
 * 720p cost less and stand first: only a request that names a dearer size gets it.
 */
const ratios = [
  '1024:1024',
  '1360:768',
  '1280:720',
  '720:1280',
  '960:720',
  '720:960',
  '720:720',
  '1680:720',
  '1920:1080',
  '1080:1920',
  '1440:1080',
  '1080:1440',
] as const;
const referencesMax = 3;
const known = { seed: 'number' } as const;

/** docs.dev.runwayml.com/errors, 2026-08. */
const { fault, polled } = faultReaders([
  { openings: ['You do not have enough credits'], kind: 'quota' },
]);

/** Gen-4 Image: a task, polled until it has succeeded; input images are references. */
export const runwayImages: ImageAdapter = {
  ask: (call) => {
    const { prompt, size, images } = imageRequestOf(call);
    return namingUnsent(
      jsonRequest(
        '/v1/text_to_image',
        {
          model: call.upstreamModel,
          promptText: prompt,
          ratio: shapeOf(size),
          referenceImages:
            images.length === 0 ? undefined : images.map((image) => ({ uri: dataUrl(image) })),
          ...extraMembers(call, known),
        },
        version,
      ),
      call,
      known,
      ['size'],
    );
  },
  split: (call) => splitByCount(call, 1),
  misfit,
  read: accepted,
  isAsync: () => true,
  fault,
};

const usualRatio = '1024:1024';

function shapeOf(size: Parameters<typeof nearestRatio>[0] | undefined): string {
  if (size === undefined) return usualRatio;
  const exact = ratios.find((ratio) => ratio === `${size.width}:${size.height}`);
  return exact ?? nearestRatio(size, ratios);
}

function misfit(call: VendorCall): ImageMisfit | undefined {
  const { images, mask } = imageRequestOf(call);
  const wrong = maskMisfit(mask, false) ?? imagesMisfit(images, referencesMax);
  if (wrong !== undefined) return wrong;
  if (call.upstreamModel === 'gen4_image_turbo' && images.length === 0)
    return {
      param: 'image',
      why: 'This model needs a picture to refer to: send one to /v1/images/edits.',
    };
  return undefined;
}

/** The vendor allows one poll in five seconds (docs.dev.runwayml.com/api, tasks, 2026-08). */
const afterMs = 5_000;

function accepted(reply: Buffer): PendingAnswer | PendingFault {
  const body: Documented<RunwayTask> | undefined = objectIn(reply);
  const id = textOf(body?.id);
  if (id === undefined) return protocolFault('an answer without the id of a task');
  const poll = getRequest(`/v1/tasks/${encodeURIComponent(id)}`, version);
  const later: PendingAnswer = {
    poll,
    afterMs,
    read: (told, _, call) => stateOf(told, id, call, later),
    fault: polled,
    cancel: { ...poll, method: 'DELETE' },
  };
  return later;
}

function stateOf(
  reply: Buffer,
  id: string,
  call: VendorCall,
  later: PendingAnswer,
): VendorAnswer | PendingAnswer | PendingFault {
  const body: Documented<RunwayTask> | undefined = objectIn(reply);
  const status = textOf(body?.status);
  if (status === 'PENDING' || status === 'THROTTLED' || status === 'RUNNING') return later;
  if (status === 'FAILED' || status === 'CANCELLED') {
    const message = sanitizeVendorMessage(textOf(body?.failure) ?? 'the task failed');
    const moderation = /^(?:INPUT_PREPROCESSING\.)?SAFETY\b/.test(textOf(body?.failureCode) ?? '');
    return moderation ? moderationFault(message) : finalFault({ kind: 'server_error', message });
  }
  if (status !== 'SUCCEEDED') return protocolFault(`the status '${status}'`);
  const [url] = listOf(body?.output);
  return finalAnswer(call, typeof url === 'string' ? [{ from: { url } }] : [], id);
}
