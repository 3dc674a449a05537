import { type Change, editBytes, jsonText } from '../../base/json-edit.ts';
import { refuse } from '../../base/refusal.ts';
import type { Adapter, Answer, Call, StreamTranslator } from '../adapter.ts';
import {
  askCompletion,
  type CompletionQuirks,
  onlyPrompt,
} from '../wire/openai-completions-ask.ts';
import { completionParts } from '../wire/openai-completions-parts.ts';
import { bridgeOver } from './bridge.ts';
import { completionFrom } from './completions-over-chat-answer.ts';
import { CompletionEvents } from './completions-over-chat-stream.ts';

const answer = (chat: Answer, call: Call): Answer => ({
  ...chat,
  body: Buffer.from(JSON.stringify(completionFrom(chat, call))),
});
const stream = (call: Call, chat: StreamTranslator): StreamTranslator =>
  new CompletionEvents(call, chat);

/**
 * `/v1/completions` for models whose vendor speaks chat: the prompt is a user's message, the
 * answer's words are the text (wire-formats §0.3, §1.2).
 */
export function completionsOverChat(chat: Adapter): Adapter {
  return { ...bridgeOver(chat, { toChat: chatCallFrom, answer, stream }), parts: completionParts };
}

/**
 * For vendors that are asked as `/completions` are, under a path of their own, and answer as chat
 * does.
 */
export function completionsAnsweredAsChat(chat: Adapter, quirks: CompletionQuirks): Adapter {
  const toChat = (call: Call): Call => ({ ...call, answerId: chatId(call) });
  return {
    ...bridgeOver(chat, { toChat, answer, stream }),
    ask: (call) => askCompletion(call, quirks),
    parts: completionParts,
  };
}

const chatId = ({ answerId }: Call): string => answerId.replace(/^cmpl-/, 'chatcmpl-');

/**
 * What only completions have goes, everything else stays as it was sent. What would change the
 * answer and cannot be said is refused.
 */
function chatCallFrom(call: Call): Call {
  const { prompt: _, suffix, echo, best_of: bestOf, logprobs, ...rest } = call.body;
  const cannot = (param: string, why: string): never =>
    refuse('invalid_value', { param, why: `the model '${call.publicModel}' ${why}` });
  if (typeof suffix === 'string' && suffix !== '')
    cannot('suffix', 'cannot write what comes before a given end.');
  if (typeof bestOf === 'number' && bestOf > Number(rest['n'] ?? 1))
    cannot('best_of', 'does not choose among answers.');
  if (echo === true && typeof logprobs === 'number')
    cannot('logprobs', 'does not tell the probabilities of a prompt.');
  if (rest['max_tokens'] === 0) cannot('max_tokens', 'writes at least one token.');
  const messages = [{ role: 'user', content: onlyPrompt(call) }];
  const probabilities =
    typeof logprobs === 'number' ? { logprobs: true, top_logprobs: logprobs } : {};
  const changes: Change[] = [
    { path: ['prompt'], name: 'messages', json: jsonText(messages) },
    { path: ['suffix'] },
    { path: ['echo'] },
    { path: ['best_of'] },
    ...(typeof logprobs === 'number'
      ? [
          { path: ['logprobs'], json: 'true' },
          { path: ['top_logprobs'], json: String(logprobs) },
        ]
      : [{ path: ['logprobs'] }]),
  ];
  return {
    ...call,
    body: { ...rest, messages, ...probabilities },
    bytes: editBytes(call.bytes, changes),
    answerId: chatId(call),
  };
}
