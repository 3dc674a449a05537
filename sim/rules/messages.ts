import type { Complaint, Rule } from '../dialect.ts';
import { decodeDocument } from '../document.ts';
import { decodeImage } from '../image.ts';
import { type Json, list, object, typeName } from '../json.ts';
import type { ChatRequest, Message } from '../request.ts';

/** The first complaint that `find` has about a message. */
export const eachMessage =
  (find: (message: Message, index: number, request: ChatRequest) => Complaint | undefined): Rule =>
  (request) => {
    for (const [index, message] of request.messages.entries()) {
      const complaint = find(message, index, request);
      if (complaint !== undefined) return complaint;
    }
    return undefined;
  };

export const someMessages: Rule = ({ raw, messages }) => {
  const sent = raw['messages'];
  if (sent === undefined || sent === null)
    return {
      param: 'messages',
      code: 'missing_required_parameter',
      message: "Missing required parameter: 'messages'.",
    };
  if (!Array.isArray(sent)) {
    return {
      param: 'messages',
      code: 'invalid_type',
      message: `Invalid type for 'messages': expected an array of objects, but got a ${typeName(sent)} instead.`,
    };
  }
  if (messages.length > 0) return undefined;
  return {
    param: 'messages',
    code: 'empty_array',
    message:
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
  };
};

export const roles = (allowed: readonly string[]): Rule =>
  eachMessage(({ role }, index) => {
    if (allowed.includes(role)) return undefined;
    const named = allowed.map((r) => `'${r}'`).join(', ');
    return {
      param: `messages[${index}].role`,
      code: 'invalid_value',
      message: `Invalid value: '${role}'. Supported values are: ${named}.`,
    };
  });

/** Every message has content; an assistant's may have calls, a refusal or audio instead. */
export const contents: Rule = eachMessage(({ raw, role }, index) => {
  const content = raw['content'];
  if (typeof content === 'string' || (Array.isArray(content) && content.length > 0))
    return undefined;
  const otherwise = ['tool_calls', 'function_call', 'refusal', 'audio'].some(
    (name) => raw[name] !== undefined && raw[name] !== null,
  );
  if (
    (content === undefined || content === null) &&
    (role === 'function' || (role === 'assistant' && otherwise))
  )
    return undefined;
  return {
    param: `messages.[${index}].content`,
    code: 'invalid_type',
    message: `Invalid value for 'content': expected a string, got ${content === undefined ? 'null' : typeName(content)}.`,
  };
});

/** Parts must have one of these types; `complain` gives the error for others. */
export const parts = (
  allowed: (type: string, request: ChatRequest) => boolean,
  complain: (type: string, message: number, part: number) => Complaint,
): Rule =>
  eachMessage(({ raw }, index, request) => {
    for (const [at, part] of list(raw['content']).entries()) {
      const type = String(object(part)['type']);
      if (!allowed(type, request)) return complain(type, index, at);
    }
    return undefined;
  });

/**
 * `data:` URLs must hold an image; `remote`: the vendor's error for other addresses, if it does not
 * load them.
 */
export const images = (complain: Complaint, remote?: Complaint): Rule =>
  eachMessage(({ images }) => {
    for (const url of images) {
      if (/^https?:\/\//.test(url)) {
        if (remote !== undefined) return remote;
      } else if (decodeImage(url) === undefined) return complain;
    }
    return undefined;
  });

/** Files come in a `data:` URL with their name, or were uploaded before. The texts are OpenAI's. */
export const documents: Rule = eachMessage(({ raw }, index) => {
  for (const [at, value] of list(raw['content']).entries()) {
    const { type, file } = object(value);
    const complaint =
      type === 'file'
        ? documentComplaint(object(file), `messages[${index}].content[${at}].file`)
        : undefined;
    if (complaint !== undefined) return complaint;
  }
  return undefined;
});

/** developers.openai.com/api/docs/guides/file-inputs, 2026-08: bytes come with the file's name. */
export function documentComplaint(file: Json, param: string): Complaint | undefined {
  const { file_id: id, file_data: data, file_url: url, filename } = file;
  if (typeof id === 'string' || typeof url === 'string') return undefined;
  if (typeof data !== 'string')
    return {
      param,
      code: 'missing_required_parameter',
      message: `Missing required parameter: '${param}.file_id'.`,
    };
  if (typeof filename !== 'string')
    return {
      param: `${param}.filename`,
      code: 'missing_required_parameter',
      message: `Missing required parameter: '${param}.filename'.`,
    };
  // Files of other kinds (spreadsheets, texts) are not opened here.
  if (decodeDocument(data) !== undefined || /^data:(?!application\/pdf)[^,]+;base64,/.test(data))
    return undefined;
  return {
    param: `${param}.file_data`,
    code: 'invalid_value',
    message: `Invalid '${param}.file_data'. Expected a base64-encoded data URL with an application/pdf MIME type (e.g. 'data:application/pdf;base64,aGVsbG8gd29ybGQ='), but got another value.`,
  };
}

/**
 * Results follow their calls before any other message, and every result has a call. The default
 * texts are OpenAI's.
 */
export const toolResultsFollowCalls: Rule = ({ messages }) => {
  let open: string[] = [];
  let caller = -1;
  for (const [index, { role, raw }] of messages.entries()) {
    if (role === 'tool') {
      if (caller < 0) return orphan(index);
      open = open.filter((id) => id !== raw['tool_call_id']);
      continue;
    }
    if (open.length > 0) return unanswered(open, caller);
    open = list(raw['tool_calls']).map((call) => String(object(call)['id']));
    caller = open.length > 0 ? index : -1;
  }
  return open.length > 0 ? unanswered(open, caller) : undefined;
};

function orphan(index: number): Complaint {
  return {
    param: `messages.[${index}].role`,
    message:
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
  };
}

function unanswered(ids: readonly string[], index: number): Complaint {
  return {
    param: `messages.[${index}].role`,
    message: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(', ')}`,
  };
}

/** User and assistant alternate after the system message. */
export const alternate =
  (complain: Complaint): Rule =>
  ({ messages }) => {
    // All results of a turn's calls count as one turn of the user.
    const turns = messages
      .filter(
        ({ role }, i) =>
          role !== 'system' && !(role === 'tool' && messages[i - 1]?.role === 'tool'),
      )
      .map(({ role }) => (role === 'assistant' ? 'assistant' : 'user'));
    const wrong = turns.some((role, index) => role !== (index % 2 === 0 ? 'user' : 'assistant'));
    return wrong ? complain : undefined;
  };

export const systemFirst =
  (complain: Complaint): Rule =>
  ({ messages }) =>
    messages.some(({ role }, index) => role === 'system' && index > 0) ? complain : undefined;
