import type { Adapter, Call } from '../adapter.ts';
import { bridgeOver } from './bridge.ts';
import { responseAnswer } from './responses-over-chat-answer.ts';
import { chatBody } from './responses-over-chat-request.ts';
import { ResponseStream } from './responses-over-chat-stream.ts';

/** Responses of a vendor that speaks chat. */
export function responsesOverChat(chat: Adapter): Adapter {
  return bridgeOver(chat, {
    toChat: responsesAsChat,
    answer: responseAnswer,
    stream: (call, translator) => new ResponseStream(call, translator),
  });
}

/** The same request as a chat completion. Throws the Refusal of what chat has no word for. */
export function responsesAsChat(call: Call): Call {
  const body = chatBody(call);
  const answerId = call.answerId.replace(/^resp_/, 'chatcmpl-');
  return { ...call, body, bytes: Buffer.from(JSON.stringify(body)), includeUsage: true, answerId };
}
