import { edit } from '../../base/json-edit.ts';
import { memberText } from './openai-responses-rewrite.ts';

/** The member of an item's last state that the deltas of a type fill. */
const filled: Readonly<Record<string, (item: string, text: string) => string>> = {
  'response.output_text.delta': (item, text) =>
    edit(item, [
      {
        path: ['content'],
        json: `[{"type":"output_text","text":"${text}","annotations":[],"logprobs":[]}]`,
      },
    ]),
  'response.refusal.delta': (item, text) =>
    edit(item, [{ path: ['content'], json: `[{"type":"refusal","refusal":"${text}"}]` }]),
  'response.function_call_arguments.delta': (item, text) =>
    edit(item, [{ path: ['arguments'], json: `"${text}"` }]),
  'response.custom_tool_call_input.delta': (item, text) =>
    edit(item, [{ path: ['input'], json: `"${text}"` }]),
};

interface Open {
  readonly item: string;
  type: string;
  readonly pieces: string[];
}

/**
 * The items of a stream as far as it has come: kept as the text they came in, and put together only
 * when the stream is cut short.
 */
export class OutputSoFar {
  readonly #done = new Map<number, string>();
  readonly #open = new Map<number, Open>();

  item(data: string, type: string): void {
    const index = Number(memberText(data, 'output_index'));
    const item = memberText(data, 'item');
    if (type === 'response.output_item.done') {
      this.#done.set(index, item);
      this.#open.delete(index);
    } else this.#open.set(index, { item, type: '', pieces: [] });
  }

  /** `json` is the delta as JSON text of a string. */
  delta(data: string, type: string, json: string): void {
    if (this.#open.size === 0) return;
    const at = data.indexOf('"output_index":');
    const open = this.#open.get(Number.parseInt(data.slice(at + 15, at + 25), 10));
    if (open === undefined || filled[type] === undefined) return;
    open.type = type;
    open.pieces.push(json.slice(1, -1));
  }

  soFar(): string[] {
    const all = new Map(this.#done);
    for (const [index, { item, type, pieces }] of this.#open) {
      const said = filled[type]?.(item, pieces.join('')) ?? item;
      all.set(index, edit(said, [{ path: ['status'], json: '"incomplete"' }]));
    }
    return [...all].sort(([a], [b]) => a - b).map(([, item]) => item);
  }
}
