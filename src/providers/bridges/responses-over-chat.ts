import type { Adapter, Call } from '../adapter.ts';
import { objectOf } from '../wire/json.ts';
import { bridgeOver, type Names } from './bridge.ts';
import { responseAnswer } from './responses-over-chat-answer.ts';
import { chatBody, leftOutOfChat } from './responses-over-chat-request.ts';
import { ResponseStream } from './responses-over-chat-stream.ts';

/** Responses of a vendor that speaks chat. */
export function responsesOverChat(chat: Adapter): Adapter {
  return bridgeOver(chat, {
    toChat: responsesAsChat,
    answer: responseAnswer,
    stream: (call, translator) => new ResponseStream(call, translator),
    names: namesOf,
  });
}

const names = {
  reasoning_effort: 'reasoning.effort',
  response_format: 'text.format',
  verbosity: 'text.verbosity',
  messages: 'input',
  'messages[].reasoning_content': 'input[].reasoning',
  'messages[].reasoning_details': 'input[].reasoning',
};

/** With the effort goes the summary of what would have been thought. */
const namesOf = ({ body }: Call): Names => {
  const { summary, generate_summary: older } = objectOf(body['reasoning']) ?? {};
  return summary == null && older == null ? names : { ...names, reasoning_effort: 'reasoning' };
};

/** The same request as a chat completion. Throws the Refusal of what chat has no word for. */
export function responsesAsChat(call: Call): Call {
  const body = chatBody(call);
  const answerId = call.answerId.replace(/^resp_/, 'chatcmpl-');
  const dropped = leftOutOfChat(call);
  return {
    ...call,
    body,
    bytes: Buffer.from(JSON.stringify(body)),
    includeUsage: true,
    answerId,
    dropped,
  };
}
