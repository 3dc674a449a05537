import type { Adapter } from '../adapter.ts';

/** How a vendor is asked for the tokens of a chat request, and under which name it tells them. */
export interface ChatCount extends Pick<Adapter, 'ask' | 'fault'> {
  readonly member: string;
}
