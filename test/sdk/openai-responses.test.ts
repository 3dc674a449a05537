import { openaiResponses } from './openai-responses.ts';
import { sdkTable } from './table.ts';

sdkTable(openaiResponses);
