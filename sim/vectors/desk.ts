import type { Complaint } from '../dialect.ts';
import type { Json } from '../json.ts';
import type { Pen } from '../play.ts';
import { embeddingsComplaint, embeddingsPen, textsOf } from './embeddings.ts';
import { judgedTexts, moderationComplaint, moderationPen } from './moderations.ts';
import { documentsOf, rerankComplaint, rerankPen } from './rerank.ts';
import type { Beside } from './vendors.ts';

/** One endpoint of one vendor. */
export interface VectorEndpoint {
  readonly complaint: (raw: Json) => Complaint | undefined;
  readonly texts: (raw: Json) => readonly string[];
  readonly pen: (raw: Json) => Pen;
}

/** The endpoint of a path, among a vendor's endpoints other than chat. */
export function endpointAt(
  path: string,
  { embeddings, moderations, rerank }: Beside,
): VectorEndpoint | undefined {
  if (embeddings !== undefined && path === (embeddings.path ?? '/embeddings'))
    return {
      complaint: (raw) => embeddingsComplaint(raw, embeddings),
      texts: textsOf,
      pen: (raw) => embeddingsPen(raw, embeddings),
    };
  if (moderations !== undefined && path === '/moderations')
    return {
      complaint: (raw) => moderationComplaint(raw, moderations),
      texts: judgedTexts,
      pen: (raw) => moderationPen(raw, moderations),
    };
  if (rerank !== undefined && path === '/rerank')
    return {
      complaint: (raw) => rerankComplaint(raw, rerank),
      texts: documentsOf,
      pen: (raw) => rerankPen(raw, rerank),
    };
  return undefined;
}
