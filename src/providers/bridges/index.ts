import type { Capability } from '../../base/capability.ts';
import type { Adapter, Vendor } from '../adapter.ts';
import { messagesOverChat } from './messages-over-chat.ts';
import { responsesOverChat } from './responses-over-chat.ts';

/** An adapter for each capability that a vendor has, on its own or over its chat. */
export type Adapters = Readonly<Partial<Record<Capability, Adapter>>>;

/** What a vendor speaks natively as it is, and everything else that its chat can stand for. Made once per channel. */
export function adaptersOf({ speaks, readsCacheMarks = false }: Vendor): Adapters {
  const { chat } = speaks;
  return chat === undefined ? speaks : { messages: messagesOverChat(chat, readsCacheMarks), responses: responsesOverChat(chat), ...speaks };
}
