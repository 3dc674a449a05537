import { aiAnthropic } from './ai-sdk.ts';
import { sdkTable } from './table.ts';

sdkTable(aiAnthropic);
