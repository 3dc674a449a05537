import { langchainResponses } from './langchain.ts';
import { sdkTable } from './table.ts';

sdkTable(langchainResponses);
