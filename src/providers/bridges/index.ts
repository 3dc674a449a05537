import type { Speaks, Vendor } from '../adapter.ts';
import { compactionOver } from './compaction.ts';
import { completionsOverChat } from './completions-over-chat.ts';
import { messagesOverChat } from './messages-over-chat.ts';
import { responsesOverChat } from './responses-over-chat.ts';

/**
 * What a vendor speaks natively as it is, and everything else that its chat can stand for. Made
 * once per channel.
 */
export function adaptersOf({ speaks, readsCacheMarks = false }: Vendor): Speaks {
  const { chat } = speaks;
  if (chat === undefined) return speaks;
  const responses = speaks.responses ?? responsesOverChat(chat);
  return {
    messages: messagesOverChat(chat, readsCacheMarks),
    responses,
    compact: compactionOver(responses),
    completions: completionsOverChat(chat),
    ...speaks,
  };
}
