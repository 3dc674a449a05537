import { type JsonObject, parse, objectOf, textOf } from '../wire/json.ts';
import { sealed } from './responses-over-chat-seal.ts';
import { customInput, type Tool } from './responses-over-chat-tools.ts';

/** Ids of a response's items: its own random part and their place in it. */
export class ItemIds {
  readonly #part: string;
  #next = 0;

  constructor(answerId: string) {
    this.#part = answerId.replace(/^resp_/, '');
  }

  next(kind: 'msg' | 'rs' | 'fc' | 'ctc'): string {
    return `${kind}_${this.#part}_${this.#next++}`;
  }
}

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export const textPart = (
  text: string,
  logprobs: readonly unknown[] = [],
  annotations: readonly unknown[] = [],
): JsonObject => ({
  type: 'output_text',
  text,
  annotations,
  logprobs,
});
export const refusalPart = (refusal: string): JsonObject => ({ type: 'refusal', refusal });

export function messageItem(
  id: string,
  content: readonly JsonObject[],
  status: ItemStatus,
): JsonObject {
  return { id, type: 'message', status, role: 'assistant', content };
}

export function reasoningItem(id: string, text: string, details: readonly unknown[]): JsonObject {
  return {
    id,
    type: 'reasoning',
    summary: text === '' ? [] : [{ type: 'summary_text', text }],
    ...(details.length ? { encrypted_content: sealed(details) } : {}),
  };
}

export interface Called {
  readonly callId: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly arguments: string;
  /** What the vendor put beside the call and wants back with it. */
  readonly extra: unknown;
}

export function callItem(
  id: string,
  called: Called,
  status: ItemStatus,
  custom: boolean,
): JsonObject {
  const beside = {
    ...(called.namespace === undefined ? {} : { namespace: called.namespace }),
    ...(called.extra === undefined ? {} : { extra_content: called.extra }),
  };
  if (custom)
    return {
      id,
      type: 'custom_tool_call',
      status,
      call_id: called.callId,
      name: called.name,
      input: inputOf(called.arguments),
      ...beside,
    };
  return {
    id,
    type: 'function_call',
    status,
    arguments: called.arguments,
    call_id: called.callId,
    name: called.name,
    ...beside,
  };
}

/** By its own names, what chat calls `chatName`. A model may call what it was not given. */
export function calledAs(chatName: string, tools: ReadonlyMap<string, Tool>): Tool {
  return tools.get(chatName) ?? { name: chatName, namespace: undefined, custom: false };
}

/** The one text of a custom tool, from the function that stood for it. */
export function inputOf(args: string): string {
  const value = parse(args);
  return textOf(objectOf(value)?.[customInput]) ?? (typeof value === 'string' ? value : args);
}
