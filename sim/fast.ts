import type { ServerResponse } from 'node:http';

/**
 * The model for load runs: a constant answer of 1 KB, or a constant stream, at once, without
 * reading the request.
 */
export const fastModel = 'sim-fast';

const bytes = 1024;
const chunks = 20;
const frame = { id: 'chatcmpl-simfast', created: 1_763_719_200, model: fastModel };
const usage = { prompt_tokens: 20, completion_tokens: chunks, total_tokens: 20 + chunks };

function wholeOf(content: string): string {
  const message = { role: 'assistant', content };
  return JSON.stringify({
    ...frame,
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage,
  });
}

function event(choices: readonly object[], extra: object = {}): string {
  return `data: ${JSON.stringify({ ...frame, object: 'chat.completion.chunk', choices, ...extra })}\n\n`;
}

function streamOf(withUsage: boolean): string {
  const words = Array.from({ length: chunks }, () =>
    event([{ index: 0, delta: { content: ' word' }, finish_reason: null }]),
  );
  const first = event([
    { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null },
  ]);
  const finish = event([{ index: 0, delta: {}, finish_reason: 'stop' }]);
  return [first, ...words, finish, withUsage ? event([], { usage }) : '', 'data: [DONE]\n\n'].join(
    '',
  );
}

const whole = Buffer.from(wholeOf('.'.repeat(bytes - wholeOf('').length)));
const stream = { withUsage: Buffer.from(streamOf(true)), plain: Buffer.from(streamOf(false)) };
const wholeHead = { 'content-type': 'application/json', 'content-length': whole.length };
const streamHead = { 'content-type': 'text/event-stream' };

export function sendFast(response: ServerResponse, body: Buffer): void {
  if (!/"stream"\s*:\s*true/.test(body.toString('latin1')))
    response.writeHead(200, wholeHead).end(whole);
  else
    response
      .writeHead(200, streamHead)
      .end(body.includes('"include_usage"') ? stream.withUsage : stream.plain);
}
