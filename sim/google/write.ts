import { systemClock } from '../../src/base/clock.ts';
import type { Answer, Choice, Usage } from '../answer.ts';
import type { Draft } from '../dialect.ts';
import { argumentsOf, type Json } from '../json.ts';
import type { Writer } from '../play.ts';
import { hash } from '../tokens.ts';
import type { StreamEvent } from '../write.ts';
import type { ModelFacts } from './model.ts';
import { refusal, type Surface } from './refusal.ts';
import { signature } from './thought.ts';

/** The parts of a request that decide how its answer is written. */
export interface Writing {
  readonly model: ModelFacts;
  readonly surface: Surface;
  readonly includeThoughts: boolean;
  /** Logprobs with that many alternatives; undefined: none. */
  readonly topLogprobs: number | undefined;
  /** Tokens that the vendor's own tools read. */
  readonly toolUse: number;
  /** Server-sent events instead of one growing list. */
  readonly sse: boolean;
}

/** Tokens per event: this vendor's are larger than others'. */
const tokensAtOnce = 3;

/** Answers as recorded from both surfaces between 2025-10 and 2026-08. */
export function googleWriter(writing: Writing): Writer {
  const { sse, surface } = writing;
  const lines = (json: Json, first: boolean): string =>
    sse
      ? `data: ${JSON.stringify(json)}\r\n\r\n`
      : `${first ? '[' : ',\r\n'}${JSON.stringify(json, null, 2)}`;
  return {
    end: sse ? '' : ']',
    broken: sse
      ? 'data: {"candidates": [{"content": {"parts": [{"text":\r\n\r\n'
      : ',\r\n{"candidates": [{"content":',
    streamType: sse ? 'text/event-stream' : 'application/json; charset=UTF-8',
    headers: { vary: 'Origin, X-Origin, Referer', 'x-content-type-options': 'nosniff' },
    whole: (answer) => whole(answer, writing),
    error(problem) {
      const { body } = refusal(surface, { ...problem, path: '' });
      return sse ? `data: ${JSON.stringify(body)}\r\n\r\n` : `,\r\n${JSON.stringify(body)}]`;
    },
    *events(answer) {
      let first = true;
      for (const { json, piece, ends } of chunks(answer, writing)) {
        const event: StreamEvent = { text: lines(json, first), piece, ends };
        yield event;
        first = false;
      }
    },
  };
}

function whole(answer: Answer, writing: Writing): Json {
  const candidates = answer.choices.map((choice, index) => {
    const parts = partsOf(choice, writing);
    return candidate(
      parts.length > 0 || choice.finish === 'length' ? parts : [{ text: '' }],
      index,
      writing,
      choice,
    );
  });
  return frame(candidates, answer, writing, answer.usage);
}

/** All parts of a choice: thoughts if requested, then text or calls. */
function partsOf(choice: Choice, writing: Writing): Draft[] {
  const thought = choice.reasoning.join('');
  const thoughts =
    writing.includeThoughts && thought !== '' ? [{ text: thought, thought: true }] : [];
  const content = choice.text.join('');
  const drafts: Draft[] = content === '' ? [] : [{ text: content }];
  const last = drafts.at(-1);
  if (last !== undefined && writing.model.signs && thought !== '')
    last['thoughtSignature'] = signature(last);
  return [...thoughts, ...drafts, ...callsOf(choice, writing)];
}

/**
 * A call comes whole; the first of a step carries the signature, if the model thought (recorded).
 */
function callsOf(choice: Choice, { model, surface }: Writing): Draft[] {
  return choice.calls.map(({ id, name, arguments: pieces }, i) => {
    const args = argumentsOf(pieces.join(''));
    const part: Draft = {
      functionCall: {
        name,
        args,
        ...(model.signs && surface.api === 'gemini' && { id: id.slice(-8) }),
      },
    };
    if (i === 0 && (model.signs || choice.reasoning.length > 0))
      part['thoughtSignature'] = signature(part);
    return part;
  });
}

interface Chunk {
  readonly json: Json;
  readonly piece: boolean;
  readonly ends: boolean;
}

function* chunks(answer: Answer, writing: Writing): Generator<Chunk> {
  const spent = { reasoning: 0, written: 0 };
  for (const [index, choice] of answer.choices.entries()) {
    const last = index === answer.choices.length - 1;
    for (const { parts, thought, written } of steps(choice, writing)) {
      spent.reasoning += thought;
      spent.written += written;
      if (parts.length === 0) continue;
      const usage = {
        ...answer.usage,
        reasoning: spent.reasoning,
        completion: spent.reasoning + spent.written,
      };
      yield {
        json: frame([candidate(parts, index, writing)], answer, writing, usage, true),
        piece: true,
        ends: false,
      };
    }
    const end: Draft[] =
      writing.model.signs && choice.reasoning.length > 0 && choice.calls.length === 0
        ? [{ text: '', thoughtSignature: signature({}) }]
        : [{ text: '' }];
    yield {
      json: frame(
        [candidate(end, index, writing, choice)],
        answer,
        writing,
        last ? answer.usage : undefined,
      ),
      piece: false,
      ends: true,
    };
  }
}

interface Step {
  readonly parts: Draft[];
  readonly thought: number;
  readonly written: number;
}

function* steps(choice: Choice, writing: Writing): Generator<Step> {
  for (const some of batches(choice.reasoning))
    yield {
      parts: writing.includeThoughts ? [{ text: some.join(''), thought: true }] : [],
      thought: some.length,
      written: 0,
    };
  for (const some of batches(choice.text))
    yield { parts: [{ text: some.join('') }], thought: 0, written: some.length };
  for (const [i, part] of callsOf(choice, writing).entries())
    yield { parts: [part], thought: 0, written: (choice.calls[i]?.arguments.length ?? 0) + 1 };
}

function* batches(pieces: readonly string[]): Generator<readonly string[]> {
  for (let i = 0; i < pieces.length; i += tokensAtOnce) yield pieces.slice(i, i + tokensAtOnce);
}

const reasons = {
  stop: 'STOP',
  tool_calls: 'STOP',
  length: 'MAX_TOKENS',
  content_filter: 'SAFETY',
} as const;

/** `choice`: set when the stream ends here. */
function candidate(
  parts: Draft[],
  index: number,
  { model, surface, topLogprobs }: Writing,
  choice?: Choice,
): Draft {
  const filtered = choice?.finish === 'content_filter';
  const content: Draft = filtered
    ? {}
    : surface.api === 'vertex'
      ? { role: 'model', parts }
      : { parts, role: 'model' };
  // A model that spent all tokens on thoughts sends no parts (recorded).
  if (parts.length === 0) Reflect.deleteProperty(content, 'parts');
  const draft: Draft = { content };
  if (choice !== undefined) draft['finishReason'] = reasons[choice.finish];
  if (surface.api === 'gemini') draft['index'] = index;
  else if (index > 0) draft['index'] = index;
  if (choice?.finish === 'tool_calls' && model.generation >= 3)
    draft['finishMessage'] = 'Model generated function call(s).';
  if (filtered)
    draft['safetyRatings'] = [
      { category: 'HARM_CATEGORY_DANGEROUS_CONTENT', probability: 'HIGH', blocked: true },
    ];
  if (choice !== undefined && topLogprobs !== undefined)
    draft['logprobsResult'] = logprobs(choice.text, topLogprobs);
  return draft;
}

function logprobs(pieces: readonly string[], top: number): Json {
  const of = (token: string, more = 0): Json => ({
    token,
    tokenId: hash(token) % 256_000,
    logProbability: -(hash(token) % 1000) / 1000 - more,
  });
  return {
    chosenCandidates: pieces.map((token) => of(token)),
    ...(top > 0 && {
      topCandidates: pieces.map((token) => ({
        candidates: Array.from({ length: top }, (_, i) => of(i === 0 ? token : `${token}${i}`, i)),
      })),
    }),
  };
}

/** `early`: not the last frame; Vertex reports counts only in the last one. */
function frame(
  candidates: readonly Json[],
  answer: Answer,
  writing: Writing,
  usage: Usage | undefined,
  early = false,
): Json {
  const { surface } = writing;
  const usageMember =
    answer.usageReported && usage !== undefined
      ? { usageMetadata: usageOf(usage, writing, early) }
      : {};
  const created =
    surface.api === 'vertex' ? { createTime: new Date(systemClock.now()).toISOString() } : {};
  return {
    candidates,
    ...usageMember,
    modelVersion: answer.model,
    ...created,
    responseId: answer.id.slice(0, 22),
  };
}

const textTokens = (tokenCount: number): readonly Json[] => [{ modality: 'TEXT', tokenCount }];

/** Cumulative. Zero counts are left out (recorded). */
function usageOf(
  { prompt, cached, completion, reasoning }: Usage,
  { surface, toolUse }: Writing,
  early: boolean,
): Json {
  if (surface.api === 'vertex' && early) return { trafficType: 'ON_DEMAND' };
  const visible = completion - reasoning;
  return {
    promptTokenCount: prompt,
    ...(visible > 0 && { candidatesTokenCount: visible }),
    totalTokenCount: prompt + completion + toolUse,
    ...(cached > 0 && { cachedContentTokenCount: cached }),
    ...(surface.api === 'vertex' && { trafficType: 'ON_DEMAND' }),
    promptTokensDetails: textTokens(prompt),
    ...(cached > 0 && { cacheTokensDetails: textTokens(cached) }),
    ...(surface.api === 'vertex' &&
      visible > 0 && { candidatesTokensDetails: textTokens(visible) }),
    ...(toolUse > 0 && {
      toolUsePromptTokenCount: toolUse,
      toolUsePromptTokensDetails: textTokens(toolUse),
    }),
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
    ...(surface.api === 'gemini' && { serviceTier: 'standard' }),
  };
}
