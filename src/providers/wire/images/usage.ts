import type { Quantities } from '../../../base/quantities.ts';
import type { Answer, Parts } from '../../adapter.ts';
import { objectOf, parse } from '../json.ts';

/** The counts as the convention tells them. */
export function counted(answer: Answer, quantities: Quantities): Answer {
  const {
    input = 0,
    cached_input: cached = 0,
    image_input: seen = 0,
    output = 0,
    reasoning = 0,
    image_output: drawn = 0,
  } = quantities;
  const [inputs, outputs] = [input + cached + seen, output + reasoning + drawn];
  const usage = {
    input_tokens: inputs,
    input_tokens_details: { text_tokens: input + cached, image_tokens: seen },
    output_tokens: outputs,
    output_tokens_details: { text_tokens: output + reasoning, image_tokens: drawn },
    total_tokens: inputs + outputs,
  };
  const told = objectOf(parse(answer.body.toString('utf8')));
  return { ...answer, quantities, body: Buffer.from(JSON.stringify({ ...told, usage })) };
}

/** Several calls are one answer, and so is their count. */
export function withUsage(parts: Parts | undefined): Parts | undefined {
  if (parts === undefined) return undefined;
  const join: Parts['join'] = (answers) => {
    const all = parts.join(answers);
    return all.quantities === undefined ? all : counted(all, all.quantities);
  };
  return { ...parts, join };
}
