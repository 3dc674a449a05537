import { anthropic } from './anthropic.ts';
import { sdkTable } from './table.ts';

sdkTable(anthropic);
