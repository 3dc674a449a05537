import type { Random } from '../../src/base/random.ts';

/** What a vendor has to say. */
export interface Script {
  readonly words: readonly string[];
  readonly inputTokens: number;
  /** As it says; of a vendor that lies, far more than it wrote. */
  readonly outputTokens: number;
  readonly lies: boolean;
  /** The vendor tells how many tokens there were. */
  readonly told: boolean;
  readonly finish: 'stop' | 'length';
}

/** What comes of one call. */
export interface Answered {
  readonly silent: boolean;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly pieces: readonly Buffer[];
  /** The connection breaks before this piece; -1: it does not. */
  readonly cut: number;
  /** Milliseconds between two pieces, at most. */
  readonly pace: number;
  readonly script: Script;
}

const statuses = [400, 401, 402, 403, 429, 429, 500, 500, 503, 529] as const;

/** `steady`: never refuses us, and answers in the end. */
export function answerTo(
  body: string,
  path: string,
  call: number,
  calm: boolean,
  steady: boolean,
  random: Random,
): Answered {
  const limit = Number(/"max_(?:completion_)?tokens":\s*(\d+)/.exec(body)?.[1] ?? 100);
  const script = scriptOf(call, limit, calm || steady || random() < 0.85, random);
  const dice = calm ? 1 : random();
  const usual = { silent: false, script, pace: calm ? 20 : 3 * 150 ** random(), cut: -1 };
  if (!steady && dice < 0.03) return { ...usual, silent: true, status: 0, headers: {}, pieces: [] };
  if (!steady && dice < 0.18) {
    const status = statuses[Math.floor(random() * statuses.length)] ?? 500;
    const error = { message: `not with up-secret, call ${call}`, type: 'error', code: null };
    const headers = {
      'content-type': 'application/json',
      ...(status === 429 && { 'retry-after': '2' }),
    };
    return {
      ...usual,
      status,
      headers,
      pieces: [Buffer.from(JSON.stringify({ type: 'error', error }))],
    };
  }
  const streams = /"stream":\s*true/.test(body);
  const isMessages = path.includes('/messages');
  const text = streams
    ? isMessages
      ? messageEvents(script)
      : chatEvents(script)
    : isMessages
      ? message(script)
      : completion(script);
  const pieces = cutUp(Buffer.from(text), random);
  const cut = dice < 0.26 ? Math.floor(random() * pieces.length) : -1;
  return {
    ...usual,
    status: 200,
    headers: { 'content-type': streams ? 'text/event-stream' : 'application/json' },
    pieces,
    cut,
  };
}

function scriptOf(call: number, limit: number, told: boolean, random: Random): Script {
  const wanted = 1 + Math.floor(random() * 40);
  const written = Math.min(wanted, limit);
  const words = Array.from({ length: written }, (_, i) => `w${call}.${i} `);
  const inputTokens = 5 + Math.floor(random() * 10);
  const lies = told && random() < 0.05;
  const outputTokens = lies ? 5_000_000 : written;
  return {
    words,
    inputTokens,
    outputTokens,
    lies,
    told,
    finish: wanted > limit ? 'length' : 'stop',
  };
}

function cutUp(bytes: Buffer, random: Random): Buffer[] {
  const pieces: Buffer[] = [];
  const most = 40 * 40 ** random();
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + Math.floor(random() * most);
    pieces.push(bytes.subarray(at, end));
    at = end;
  }
  return pieces;
}

const usageOf = ({ inputTokens, outputTokens }: Script) => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
});

function completion(script: Script): string {
  const { words, finish, told } = script;
  const choices = [
    { index: 0, message: { role: 'assistant', content: words.join('') }, finish_reason: finish },
  ];
  return JSON.stringify({
    id: 'up',
    object: 'chat.completion',
    created: 1,
    model: 'up',
    choices,
    ...(told && { usage: usageOf(script) }),
  });
}

function chatEvents(script: Script): string {
  const event = (choices: unknown, more: object = {}): string =>
    `data: ${JSON.stringify({ id: 'up', object: 'chat.completion.chunk', created: 1, model: 'up', choices, ...more })}\n\n`;
  const delta = (what: object, finish: string | null = null): string =>
    event([{ index: 0, delta: what, finish_reason: finish }]);
  const spoken = script.words.map((content) => delta({ content })).join('');
  const usage = script.told ? event([], { usage: usageOf(script) }) : '';
  return `${delta({ role: 'assistant', content: '' })}${spoken}${delta({}, script.finish)}${usage}data: [DONE]\n\n`;
}

const stopOf = ({ finish }: Script): string => (finish === 'stop' ? 'end_turn' : 'max_tokens');

function message(script: Script): string {
  const { words, inputTokens, outputTokens } = script;
  const usage = { input_tokens: inputTokens, output_tokens: outputTokens };
  const content = [{ type: 'text', text: words.join('') }];
  return JSON.stringify({
    id: 'msg',
    type: 'message',
    role: 'assistant',
    model: 'up',
    content,
    stop_reason: stopOf(script),
    usage,
  });
}

function messageEvents(script: Script): string {
  const event = (type: string, more: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  const begun = {
    id: 'msg',
    type: 'message',
    role: 'assistant',
    model: 'up',
    content: [],
    stop_reason: null,
  };
  return [
    event('message_start', {
      message: { ...begun, usage: { input_tokens: script.inputTokens, output_tokens: 1 } },
    }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ...script.words.map((text) =>
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    ),
    event('content_block_stop', { index: 0 }),
    event('message_delta', {
      delta: { stop_reason: stopOf(script) },
      usage: { output_tokens: script.outputTokens },
    }),
    event('message_stop', {}),
  ].join('');
}
