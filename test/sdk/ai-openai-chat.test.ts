import { aiOpenaiChat } from './ai-sdk.ts';
import { sdkTable } from './table.ts';

sdkTable(aiOpenaiChat);
