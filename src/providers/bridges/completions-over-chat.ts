import {
  type JsonChange,
  editJsonBytes,
  type Documented,
  jsonText,
  type JsonObject,
  objectOf,
  objectsOf,
  parse,
  textOf,
  rawMembers,
  isPresent,
  utf8,
} from '../../base/json.ts';
import { refuse } from '../../base/refusal.ts';
import type { Adapter, VendorAnswer, VendorCall, StreamTranslator } from '../adapter.ts';
import {
  completionRequest,
  type CompletionQuirks,
  onlyPrompt,
} from '../formats/openai-completions/request.ts';
import type { ChatChoice, ChatCompletion, ChatLogprobs } from '../formats/openai-chat/types.ts';
import { completionParts } from '../formats/openai-completions/response.ts';
import { bridgeOver, completionOf, plainTextOf, StreamOverChat } from './bridge.ts';

/** Writes chunks of text. */
class CompletionsOverChatStream extends StreamOverChat {
  readonly #call: VendorCall;
  /**
   * The length of each choice's text so far, in characters; a choice that is absent has not begun.
   */
  readonly #offsets = new Map<number, number>();
  /** Whether plain text chunks can be translated without parsing: one choice, and no logprobs. */
  readonly #plain: boolean;
  #head: string | undefined;

  constructor(call: VendorCall, chat: StreamTranslator) {
    super(chat);
    this.#call = call;
    this.#plain = typeof call.body['logprobs'] !== 'number' && Number(call.body['n'] ?? 1) === 1;
  }

  protected readonly chunk = (json: string): string => {
    const plain =
      this.#plain && this.#offsets.has(0) ? plainTextOf(json, '"delta":{"content":"') : undefined;
    if (plain !== undefined) return this.#write(textChoice(plain, 0));
    const body: Documented<ChatCompletion> | undefined = objectOf(parse(utf8(json)));
    if (body === undefined) return '';
    const created = typeof body.created === 'number' ? body.created : this.#call.created;
    this.#head ??= `{"id":${jsonText(this.#call.answerId)},"object":"text_completion","created":${created},"model":${jsonText(this.#call.publicModel)}`;
    const choices = objectsOf(body.choices);
    const out = choices.map((choice) => this.#choice(choice)).join('');
    const usage = this.#call.includeUsage ? rawMembers(json).get('usage') : undefined;
    return isPresent(usage) ? out + this.#write('', `,"usage":${usage}`) : out;
  };

  protected conclude(): string {
    return '';
  }

  #choice(choice: Documented<ChatChoice>): string {
    const index = Number(choice.index) || 0;
    const delta = objectOf(choice.delta) ?? {};
    const newText = (textOf(delta.content) ?? '') + (textOf(delta.refusal) ?? '');
    const begun = this.#offsets.get(index);
    const text = begun === undefined ? echoOf(this.#call) + newText : newText;
    const from = begun ?? promptLength(this.#call);
    this.#offsets.set(index, from + newText.length);
    const finish = choice.finish_reason;
    const logprobs = logprobsFrom(choice.logprobs, from);
    if (text === '' && logprobs === null && typeof finish !== 'string') return '';
    return this.#write(
      textChoice(
        jsonText(text),
        index,
        jsonText(logprobs),
        typeof finish === 'string' ? completionEnd(finish) : undefined,
      ),
    );
  }

  #write(choice: string, rest = ''): string {
    return `data: ${this.#head},"choices":[${choice}]${rest}}\n\n`;
  }
}

function textChoice(text: string, index: number, logprobs = 'null', finish?: string): string {
  return `{"text":${text},"index":${index},"logprobs":${logprobs},"finish_reason":${finish === undefined ? 'null' : `"${finish}"`}}`;
}

/** The start of a choice's text: the prompt, when the client requested `echo`. */
const echoOf = (call: VendorCall): string => (call.body['echo'] === true ? onlyPrompt(call) : '');

/** Completions have three finish reasons. */
const completionEnd = (finish: unknown): string =>
  finish === 'length' || finish === 'content_filter' ? finish : 'stop';

/** A chat completion as a text completion. Reasoning is not part of its text. */
function completionFrom(answer: VendorAnswer, call: VendorCall): JsonObject {
  const body = completionOf(answer);
  const echo = echoOf(call);
  const choices = objectsOf(body.choices).map((choice) => {
    const message = objectOf(choice.message) ?? {};
    const text = echo + (textOf(message.content) ?? '') + (textOf(message.refusal) ?? '');
    const logprobs = logprobsFrom(choice.logprobs, promptLength(call));
    return {
      text,
      index: choice.index,
      logprobs,
      finish_reason: completionEnd(choice.finish_reason),
    };
  });
  const { created, usage, system_fingerprint: fingerprint } = body;
  return {
    id: call.answerId,
    object: 'text_completion',
    created,
    model: call.publicModel,
    ...(fingerprint === undefined ? {} : { system_fingerprint: fingerprint }),
    choices,
    ...(usage === undefined ? {} : { usage }),
  };
}

/** Offsets count from the beginning of the prompt, as in OpenAI's format. */
const promptLength = (call: VendorCall): number => onlyPrompt(call).length;

/**
 * Chat's logprobs, a list of tokens, as completions have them: a list for each member. `from`: the
 * offset of the first token.
 */
function logprobsFrom(value: unknown, from: number): JsonObject | null {
  const told: Documented<ChatLogprobs> | undefined = objectOf(value);
  if (told === undefined) return null;
  let offset = from;
  const offsets: number[] = [];
  const tokens = [...objectsOf(told.content), ...objectsOf(told.refusal)];
  for (const { token } of tokens) {
    offsets.push(offset);
    offset += (textOf(token) ?? '').length;
  }
  return {
    text_offset: offsets,
    token_logprobs: tokens.map(({ logprob }) => logprob),
    tokens: tokens.map(({ token }) => token),
    top_logprobs: tokens.map(({ top_logprobs: top }) =>
      Object.fromEntries(
        objectsOf(top).map(({ token, logprob }) => [textOf(token) ?? '', logprob]),
      ),
    ),
  };
}

const answer = (chat: VendorAnswer, call: VendorCall): VendorAnswer => ({
  ...chat,
  body: Buffer.from(JSON.stringify(completionFrom(chat, call))),
});
const stream = (call: VendorCall, chat: StreamTranslator): StreamTranslator =>
  new CompletionsOverChatStream(call, chat);

/**
 * `/v1/completions` for models whose vendor has chat: the prompt becomes a user's message, and the
 * text of the answer the completion (developers.openai.com/api/reference/completions, 2026-08).
 */
export function completionsOverChat(chat: Adapter): Adapter {
  return { ...bridgeOver(chat, { toChat: chatCallFrom, answer, stream }), split: completionParts };
}

/**
 * For vendors whose requests are those of `/completions`, under a path of their own, and whose
 * answers are those of chat.
 */
export function completionsAnsweredAsChat(chat: Adapter, quirks: CompletionQuirks): Adapter {
  const toChat = (call: VendorCall): VendorCall => ({ ...call, answerId: chatId(call) });
  return {
    ...bridgeOver(chat, { toChat, answer, stream }),
    ask: (call) => completionRequest(call, quirks),
    split: completionParts,
  };
}

const chatId = ({ answerId }: VendorCall): string => answerId.replace(/^cmpl-/, 'chatcmpl-');

/**
 * Removes the members that only completions have; everything else stays as it was sent. Refuses a
 * member that would change the answer and that chat cannot express.
 */
function chatCallFrom(call: VendorCall): VendorCall {
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
  const changes: JsonChange[] = [
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
    bytes: editJsonBytes(call.bytes, changes, call.skeleton),
    answerId: chatId(call),
  };
}
