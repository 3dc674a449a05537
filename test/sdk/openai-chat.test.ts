import { models } from '../../sim/catalog.ts';
import { openaiChat } from './openai-chat.ts';
import { sdkTable } from './table.ts';

// One package asks every model, however short the time is.
sdkTable(openaiChat, models);
