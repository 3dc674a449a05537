import { jsonText } from '../base/json-edit.ts';
import type { ClientFormat } from '../gateway/client-format.ts';
import { type Refusal, refusals } from '../base/refusal.ts';
import { limitHeaders } from './limit-headers.ts';

/**
 * A stream of pictures ends with its last picture; what goes wrong is an event of its own (OpenAPI
 * description of the Images API, 2026-08).
 */
export const imagesFormat = (kind: 'image_generation' | 'image_edit'): ClientFormat => ({
  done: '',
  keepAlive: ': keep-alive\n\n',
  errorEvent,
  limitHeaders,
  wholeAsEvents: (answer) => completed(answer, kind),
});

function errorEvent(refusal: Refusal): string {
  const { type, code } = refusals[refusal.refusal];
  return `event: error\ndata: ${jsonText({ type: 'error', error: { type, code, message: refusal.message, param: refusal.param } })}\n\n`;
}

/** One event for each picture; the last one tells the usage. */
function completed(answer: Buffer, kind: string): string {
  const { created, data = [], usage, ...more }: Whole = JSON.parse(answer.toString('utf8'));
  const type = `${kind}.completed`;
  const facts = Object.fromEntries(
    ['size', 'quality', 'background', 'output_format'].flatMap((name) =>
      name in more ? [[name, more[name]]] : [],
    ),
  );
  return data
    .map((picture, i) => {
      const told = i === data.length - 1 && usage !== undefined ? { usage } : {};
      return `event: ${type}\ndata: ${jsonText({ type, ...picture, created_at: created, ...facts, ...told })}\n\n`;
    })
    .join('');
}

interface Whole {
  readonly created: number;
  readonly data?: readonly object[];
  readonly usage?: object;
  readonly [more: string]: unknown;
}
