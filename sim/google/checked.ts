import type { Reply } from '../dialect.ts';
import { type Json, list, object } from '../json.ts';
import type { ModelFacts } from './model.ts';
import type { Surface } from './refusal.ts';

/** A well-formed request, with everything that its checks need. */
export interface Checked {
  readonly raw: Json;
  readonly model: ModelFacts;
  readonly surface: Surface;
  readonly streams: boolean;
}

const toolsOf = (raw: Json): readonly Json[] => list(raw['tools']).map(object);

/** Whether it has functions of the client. */
export const declares = (raw: Json): boolean =>
  toolsOf(raw).some((tool) => list(tool['functionDeclarations']).length > 0);

/** Whether it has tools that the vendor runs, such as its search. */
export const hasOwnTools = (raw: Json): boolean =>
  toolsOf(raw).some((tool) => Object.keys(tool).some((name) => name !== 'functionDeclarations'));

export type Complaints = Generator<string | Reply, void, undefined>;

const learnMore =
  'Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini';
/** Texts of Vertex's own checks have one form. */
export const vertexMessage = (why: string): string =>
  `Unable to submit request because ${why}. ${learnMore}`;
