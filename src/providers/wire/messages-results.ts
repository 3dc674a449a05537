import type { Quantities, ToolMeasure } from '../../base/quantities.ts';
import { type JsonObject, objectOf, textOf } from './json.ts';

/**
 * Blocks with what a tool found that the vendor ran
 * (platform.claude.com/docs/en/agents-and-tools/tool-use/server-tools, 2026-11).
 */
const results: Readonly<Record<string, ToolMeasure>> = {
  web_search_tool_result: 'web_search',
  web_fetch_tool_result: 'web_fetch',
  mcp_tool_result: 'mcp_call',
  code_execution_tool_result: 'code_session',
  bash_code_execution_tool_result: 'code_session',
  text_editor_code_execution_tool_result: 'code_session',
};

/**
 * The calls so far, with that of this block. What failed has no fee, and all code runs in one
 * container.
 */
export function withResult(
  calls: Quantities | undefined,
  block: JsonObject | undefined,
): Quantities | undefined {
  const measure = results[textOf(block?.['type']) ?? ''];
  if (
    measure === undefined ||
    textOf(objectOf(block?.['content'])?.['type'])?.endsWith('_error') === true
  )
    return calls;
  return { ...calls, [measure]: measure === 'code_session' ? 1 : (calls?.[measure] ?? 0) + 1 };
}
