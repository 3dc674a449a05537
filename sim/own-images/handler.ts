import { type Call, type TaskHandler, problemAt } from '../task-handler.ts';
import type { Reply } from '../dialect.ts';
import type { Json } from '../json.ts';
import type { FormFile } from '../media/form.ts';
import type { SimTask } from '../video/task.ts';

export interface ImageCall extends Call {
  /** The files of a form. */
  readonly files: ReadonlyMap<string, FormFile>;
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
}

/** The image to make. */
export interface ImageRequest {
  /** The model as the client named it, with its scenario. */
  readonly named: string;
  readonly prompt: string;
  readonly width: number;
  readonly height: number;
  readonly n: number;
}

/** A finished image, in both forms that vendors return. */
export interface FinishedImage {
  readonly url: string;
  readonly base64: () => string;
  readonly width: number;
  readonly height: number;
}

/** A valid request: `done` responds with the images at once, `accepted` with the id of a task. */
export type Submission = { readonly request: ImageRequest } & (
  | { readonly done: (images: readonly FinishedImage[], scenario: OrderScenario) => Reply }
  | { readonly accepted: (id: string) => Reply }
);

export interface OrderScenario {
  /** The vendor's moderation rejects the image. */
  readonly moderated: boolean;
}

/** A poll of a task. */
export interface Poll {
  readonly id: string;
  readonly report: (task: SimTask, images: readonly FinishedImage[]) => Reply;
  /** The response when there is no such task. */
  readonly unknown: Reply;
}

/** The image handler of one vendor. */
export type ImageHandler = TaskHandler<ImageCall, Submission | Poll>;

/** The sides of a one-megapixel image of that shape: `16:9`, `16x9`. */
export function sidesOf(ratio: string | undefined): {
  readonly width: number;
  readonly height: number;
} {
  const [w = 1, h = 1] = (ratio ?? '1:1').split(/[:x]/).map(Number);
  const round = (n: number): number => Math.max(32, Math.round(n / 32) * 32);
  return { width: round(1_024 * Math.sqrt(w / h)), height: round(1_024 * Math.sqrt(h / w)) };
}

/** A refusal of an invalid request. */
export function refused(
  handler: Pick<ImageHandler, 'refuse'>,
  call: ImageCall,
  message: string,
): Reply {
  return handler.refuse(problemAt(call, 'bad_request', message));
}

/** Converts numeric fields of a form to numbers. */
export const numbered = (raw: Json, names: readonly string[]): Json =>
  Object.fromEntries(
    Object.entries(raw).map(([name, value]) => [
      name,
      names.includes(name) && typeof value === 'string' && value !== '' ? Number(value) : value,
    ]),
  );
