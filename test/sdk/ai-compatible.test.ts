import { aiCompatible } from './ai-sdk.ts';
import { sdkTable } from './table.ts';

sdkTable(aiCompatible);
