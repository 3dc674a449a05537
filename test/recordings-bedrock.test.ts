import { expect } from 'vitest';
import type { VendorCall } from '../src/providers/adapter.ts';
import { bedrockConverse as chat } from '../src/providers/formats/bedrock-converse/adapter.ts';
import { chatRequest, converseMeaning, converseSaid } from './converse-meaning.ts';
import type { Recording } from './recorded-traffic.ts';
import { conversation, replayTranslated } from './replay-translated.ts';
import { eventFrame } from './support/event-stream.ts';

/**
 * A few streams were kept as the events that an SDK made of them: they are put on the wire again.
 */
function framed(recording: Recording): Recording {
  const text = recording.reply.toString('utf8');
  if (!recording.streamed || !text.startsWith('data:')) return recording;
  const events = text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .flatMap((line) => Object.entries(JSON.parse(line.slice(6))));
  return {
    ...recording,
    reply: Buffer.concat(events.map(([type, payload]) => eventFrame(type, payload))),
  };
}

const modelOf = ({ url }: Recording): string | undefined => /\/model\/([^/]+)\//.exec(url)?.[1];

/** The recorded request, said in chat's words, arrives as it was recorded. */
function checkRequest(recording: Recording, call: VendorCall): void {
  const native = { ...recording.request };
  const ask = chat.ask(call);
  const sent: Record<string, unknown> = JSON.parse(ask.body.toString('utf8'));
  const structured = sent['outputConfig'] !== undefined || native['outputConfig'] === undefined;
  // A schema for a model without structured outputs travels as a tool, which nobody recorded.
  if (structured) expect(converseSaid(sent)).toEqual(converseSaid(native));
  if (modelOf(recording))
    expect(decodeURIComponent(recording.url).endsWith(decodeURIComponent(ask.path))).toBe(true);
  const budget = /"budget_tokens":(\d+)/.exec(
    JSON.stringify(native['additionalModelRequestFields'] ?? ''),
  )?.[1];
  if (budget)
    expect(sent['additionalModelRequestFields']).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: Number(budget) },
    });
}

replayTranslated({
  title: 'Bedrock’s Converse',
  endpoint: 'converse',
  chat,
  prepare: framed,
  model: (recording) =>
    decodeURIComponent(modelOf(recording) ?? 'anthropic.claude-sonnet-4-5-20250929-v1:0'),
  meaning: converseMeaning,
  chatRequest: conversation(chatRequest),
  // What was recorded hides no answer in a tool: its schema travelled natively.
  reader: (call) => ({ ...call, body: { ...call.body, response_format: undefined } }),
  checkRequest,
  faults: ({ status }) =>
    status === 403
      ? ['credentials']
      : status === 404
        ? ['unknown_model']
        : ['bad_request', 'context_length'],
});
