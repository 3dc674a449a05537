import { type Call, type Desk, problemAt } from '../desk.ts';
import type { Reply } from '../dialect.ts';
import type { Json } from '../json.ts';
import type { FormFile } from '../media/form.ts';
import type { SimTask } from '../video/task.ts';

export interface DeskCall extends Call {
  /** A form's files. */
  readonly files: ReadonlyMap<string, FormFile>;
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
}

/** What is to be painted. */
export interface Wish {
  /** The model as the client named it, with its scenario. */
  readonly named: string;
  readonly prompt: string;
  readonly width: number;
  readonly height: number;
  readonly n: number;
}

/** A finished picture, both ways in which vendors give it. */
export interface Painted {
  readonly url: string;
  readonly base64: () => string;
  readonly width: number;
  readonly height: number;
}

/**
 * A request that is in order: answered at once by what was painted, or by what it will be known as.
 */
export type Order = { readonly wish: Wish } & (
  | { readonly done: (pictures: readonly Painted[], scenario: OrderScenario) => Reply }
  | { readonly accepted: (id: string) => Reply }
);

export interface OrderScenario {
  /** The vendor does not like what it has painted. */
  readonly moderated: boolean;
}

/** A question for a task. */
export interface Question {
  readonly id: string;
  readonly told: (task: SimTask, pictures: readonly Painted[]) => Reply;
  /** There is no such task. */
  readonly unknown: Reply;
}

/** One vendor's pictures. */
export type PictureDesk = Desk<DeskCall, Order | Question>;

/** Sides of a picture of a megapixel in that shape: `16:9`, `16x9`. */
export function sidesOf(ratio: string | undefined): {
  readonly width: number;
  readonly height: number;
} {
  const [w = 1, h = 1] = (ratio ?? '1:1').split(/[:x]/).map(Number);
  const round = (n: number): number => Math.max(32, Math.round(n / 32) * 32);
  return { width: round(1_024 * Math.sqrt(w / h)), height: round(1_024 * Math.sqrt(h / w)) };
}

/** Something is wrong with the request itself. */
export function refused(desk: Pick<PictureDesk, 'refuse'>, call: DeskCall, message: string): Reply {
  return desk.refuse(problemAt(call, 'bad_request', message));
}

/** Fields of forms that are numbers, as numbers. */
export const numbered = (raw: Json, names: readonly string[]): Json =>
  Object.fromEntries(
    Object.entries(raw).map(([name, value]) => [
      name,
      names.includes(name) && typeof value === 'string' && value !== '' ? Number(value) : value,
    ]),
  );
