import { genai } from './genai.ts';
import { sdkTable } from './table.ts';

sdkTable(genai);
