import type { Capability } from '../../base/capability.ts';
import type { Adapter, Vendor } from '../adapter.ts';
import { responsesOverChat } from './responses-over-chat.ts';

/** Client formats that any vendor of chat can be given. */
const bridges: Readonly<Partial<Record<Capability, (chat: Adapter) => Adapter>>> = { responses: responsesOverChat };

/** The adapter of a vendor for what a client asks: its own where it speaks the format, else a bridge onto its chat. Made once per channel. */
export function adapterFor({ speaks }: Vendor, capability: Capability): Adapter | undefined {
  const own = speaks[capability];
  if (own !== undefined || speaks.chat === undefined) return own;
  return bridges[capability]?.(speaks.chat);
}
