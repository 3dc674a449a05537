import { aiOpenaiResponses } from './ai-sdk.ts';
import { sdkTable } from './table.ts';

sdkTable(aiOpenaiResponses);
