import { langchainChat } from './langchain.ts';
import { sdkTable } from './table.ts';

sdkTable(langchainChat);
