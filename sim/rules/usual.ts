import type { Complaint, Rule } from '../dialect.ts';
import type { ChatRequest } from '../request.ts';
import {
  contents,
  parts,
  images,
  roles,
  someMessages,
  toolResultsFollowCalls,
} from './messages.ts';
import { formats, present, range, type Range, stopAtMost } from './parameters.ts';
import { choiceIsKnown, wellFormedTools } from './tools.ts';

export interface Usual {
  /** The models that take images, and the error of the others. */
  readonly sees: (model: string) => boolean;
  readonly blind?: (message: number) => Complaint;
  readonly temperature?: Range;
  readonly topP?: Range;
}

const mediaParts = new Set(['text', 'input_audio', 'video_url', 'file', 'refusal']);

/** The checks of nearly every compatible vendor. */
export function usualRules({
  sees,
  blind = notMultimodal,
  temperature = { min: 0, max: 2 },
  topP = { min: 0, max: 1 },
}: Usual): readonly Rule[] {
  return [
    present('model'),
    someMessages,
    roles(everyRole),
    contents,
    parts(
      (type: string, { model }: ChatRequest) =>
        mediaParts.has(type) || (type === 'image_url' && (sees(model) || model.startsWith('sim-'))),
      (_, message) => blind(message),
    ),
    images({ message: 'The image data could not be decoded.' }),
    range('temperature', temperature),
    range('top_p', topP),
    range('max_tokens', { min: 1, max: Infinity, whole: true }),
    range('max_completion_tokens', { min: 1, max: Infinity, whole: true }),
    range('n', { min: 1, max: 128, whole: true }),
    stopAtMost(16),
    wellFormedTools,
    choiceIsKnown,
    toolResultsFollowCalls,
    formats(['text', 'json_object', 'json_schema'], (type) => ({
      param: 'response_format',
      message: `response_format type '${type}' is not supported`,
    })),
  ];
}

const everyRole = ['system', 'developer', 'user', 'assistant', 'tool', 'function'];

function notMultimodal(message: number): Complaint {
  return {
    param: `messages[${message}].content`,
    message: 'This model does not support image input.',
  };
}
