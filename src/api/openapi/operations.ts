import { audioOperations } from './audio-operations.ts';
import { balanceOperations } from './balance-operations.ts';
import { chatOperations } from './chat-operations.ts';
import { generateFileOperations } from './generate-file-operations.ts';
import { generateOperations } from './generate-operations.ts';
import { imageOperations } from './image-operations.ts';
import { messagesOperations } from './messages-operations.ts';
import { modelOperations } from './model-operations.ts';
import type { Operations } from '../schema.ts';
import { responsesOperations } from './responses-operations.ts';
import { vectorOperations } from './vector-operations.ts';
import { videoOperations } from './video-operations.ts';

/**
 * The documentation of the API, route by route. A test compares it with the routes that are served,
 * and with what they refuse.
 */
export const operations: Operations = {
  ...chatOperations,
  ...messagesOperations,
  ...generateOperations,
  ...generateFileOperations,
  ...responsesOperations,
  ...vectorOperations,
  ...imageOperations,
  ...audioOperations,
  ...videoOperations,
  ...modelOperations,
  ...balanceOperations,
};
