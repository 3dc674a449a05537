import type { Answer, Choice } from './answer.ts';
import { legacyOf } from './completions-vendors.ts';
import type { Dialect, Draft } from './dialect.ts';
import { type Json, list, number } from './json.ts';
import type { ChatRequest } from './request.ts';
import { hash } from './tokens.ts';
import type { StreamEvent } from './write.ts';

/** The prompts of a request: texts, or lists of tokens, which read as that many words. */
export function promptsOf(raw: Json): readonly string[] {
  const { prompt } = raw;
  if (typeof prompt === 'string') return [prompt];
  const all = list(prompt);
  if (all.every((one) => typeof one === 'number')) return [all.map(() => ' w').join('')];
  return all.map((one) =>
    typeof one === 'string'
      ? one
      : list(one)
          .map(() => ' w')
          .join(''),
  );
}

/** The answer as one text completion. */
export function completionBody(answer: Answer, raw: Json, { vendor, style }: Dialect): Draft {
  const choices = answer.choices.map((choice, index) => {
    const echo = echoed(raw, index);
    return textChoice(
      echo + choice.text.join(''),
      index,
      logprobs(raw, echo, choice.text),
      endOf(choice, vendor),
    );
  });
  const draft: Draft = { ...frame(answer, vendor, 'whole'), choices };
  if (answer.usageReported) draft['usage'] = style.usage(answer.usage);
  return draft;
}

/** The answer as a stream of chunks, the choices one after the other. */
export function* completionEvents(
  answer: Answer,
  raw: Json,
  request: ChatRequest,
  { vendor, style }: Dialect,
): Generator<StreamEvent> {
  const head = frame(answer, vendor, 'chunk');
  const reportsUsage = answer.usageReported && (request.includeUsage || style.usageUnasked);
  const write = (
    choices: readonly Draft[],
    piece: boolean,
    ends: boolean,
    usage?: Json,
  ): StreamEvent => {
    const shownUsage = usage ?? (request.includeUsage ? null : undefined);
    return {
      text: `data: ${JSON.stringify({ ...head, choices, ...(shownUsage !== undefined && { usage: shownUsage }) })}\n\n`,
      piece,
      ends,
    };
  };
  for (const [index, choice] of answer.choices.entries()) {
    const echo = echoed(raw, index);
    if (echo !== '') yield write([textChoice(echo, index, null, null)], false, false);
    let before = echo;
    for (const piece of choice.text) {
      yield write([textChoice(piece, index, logprobs(raw, before, [piece]), null)], true, false);
      before += piece;
    }
    const last = index === answer.choices.length - 1;
    const usage =
      reportsUsage && last && style.usageAt.startsWith('finish')
        ? style.usage(answer.usage)
        : undefined;
    yield write([textChoice('', index, null, endOf(choice, vendor))], false, true, usage);
  }
  if (reportsUsage && !style.usageAt.startsWith('finish'))
    yield write([], false, false, style.usage(answer.usage));
}

function frame(answer: Answer, vendor: string, form: 'whole' | 'chunk'): Draft {
  const object = legacyOf(vendor)?.objects?.[form] ?? 'text_completion';
  return { id: `cmpl-${answer.id}`, object, created: answer.created, model: answer.model };
}

const textChoice = (
  text: string,
  index: number,
  logs: Draft | null,
  finish: string | null,
): Draft => ({
  text,
  index,
  logprobs: logs,
  finish_reason: finish,
});

const endOf = ({ finish }: Choice, vendor: string): string =>
  finish === 'stop' ? (legacyOf(vendor)?.stop ?? finish) : finish;

/** The echoed prompt at the start of a choice. */
function echoed(raw: Json, index: number): string {
  const prompts = promptsOf(raw);
  return raw['echo'] === true ? (prompts[Math.floor(index / (number(raw['n']) ?? 1))] ?? '') : '';
}

function logprobs(raw: Json, before: string, pieces: readonly string[]): Draft | null {
  const top = number(raw['logprobs']);
  if (top === undefined) return null;
  const chance = (token: string): number => -(hash(token) % 1000) / 1000;
  let offset = before.length;
  return {
    text_offset: pieces.map((piece) => (offset += piece.length) - piece.length),
    token_logprobs: pieces.map(chance),
    tokens: pieces,
    top_logprobs: pieces.map((piece) =>
      Object.fromEntries(
        Array.from({ length: top }, (_, i) => [`${piece}${i || ''}`, chance(piece) - i]),
      ),
    ),
  };
}
