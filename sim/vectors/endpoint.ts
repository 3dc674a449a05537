import type { Complaint } from '../dialect.ts';
import type { Json } from '../json.ts';
import type { Writer } from '../play.ts';
import { embeddingsComplaint, embeddingsWriter, textsOf } from './embeddings.ts';
import { judgedTexts, moderationComplaint, moderationWriter } from './moderations.ts';
import { documentsOf, rerankComplaint, rerankWriter } from './rerank.ts';
import type { VectorRules } from './rules.ts';

/** One endpoint of one vendor. */
export interface VectorEndpoint {
  readonly complaint: (raw: Json) => Complaint | undefined;
  readonly texts: (raw: Json) => readonly string[];
  readonly writer: (raw: Json) => Writer;
}

/** The endpoint of a path, among a vendor's endpoints other than chat. */
export function endpointAt(
  path: string,
  { embeddings, moderations, rerank }: VectorRules,
): VectorEndpoint | undefined {
  if (embeddings !== undefined && path === (embeddings.path ?? '/embeddings'))
    return {
      complaint: (raw) => embeddingsComplaint(raw, embeddings),
      texts: textsOf,
      writer: (raw) => embeddingsWriter(raw, embeddings),
    };
  if (moderations !== undefined && path === '/moderations')
    return {
      complaint: (raw) => moderationComplaint(raw, moderations),
      texts: judgedTexts,
      writer: (raw) => moderationWriter(raw, moderations),
    };
  if (rerank !== undefined && path === '/rerank')
    return {
      complaint: (raw) => rerankComplaint(raw, rerank),
      texts: documentsOf,
      writer: (raw) => rerankWriter(raw, rerank),
    };
  return undefined;
}
