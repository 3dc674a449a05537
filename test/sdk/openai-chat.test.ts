import { openaiChat } from './openai-chat.ts';
import { sdkTable } from './table.ts';

sdkTable(openaiChat);
