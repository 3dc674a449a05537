import type { ToolMeasure } from '../base/quantities.ts';

/** US dollars for one call of each tool, as exact decimal text. */
type ToolListFees = Readonly<Partial<Record<ToolMeasure, string>>>;

interface FeeRow {
  readonly vendor: string;
  /**
   * The vendor's ids of models. Of a vendor's rows with a fee for one tool, the first that matches
   * the id decides.
   */
  readonly models: RegExp;
  readonly fees: ToolListFees;
  /** Where the fee was read, and when. */
  readonly source: string;
}

const all = /^/;
const openaiSearch =
  'developers.openai.com/api/docs/pricing, by modelcostwatch.com/openai/tool-costs, 2026-03-12';

/**
 * The vendors' list fees of the tools that they run, for models whose price names no fee. A tool
 * has a row where its vendor counts the calls in its answer, or charges one call with each request.
 *
 * Without a row: searches of file stores, since every user of the model could then search the
 * stores of the operator's account; containers by the hour (Anthropic); searches that are neither
 * counted nor made with each request (Gemini, Groq, Moonshot, Qwen); fees that depend on the engine
 * (Zhipu) or on the size of the search (Perplexity).
 */
const rows: readonly FeeRow[] = [
  {
    vendor: 'openai',
    models: /^(?:gpt-[5-9]|o\d)/,
    fees: { web_search: '0.01' },
    source: openaiSearch,
  },
  {
    vendor: 'openai',
    models: all,
    // Models that do not reason have two search tools. This is the fee of the dearer one.
    fees: { web_search: '0.025' },
    source: openaiSearch,
  },
  {
    vendor: 'openai',
    models: all,
    // A container of 1 GB for 20 minutes. Larger ones are refused (billable-features.ts).
    fees: { code_session: '0.03' },
    source: 'developers.openai.com/api/docs/pricing, by simonw/llm#1592, 2026-08-04',
  },
  {
    vendor: 'openai',
    models: all,
    fees: { mcp_call: '0' },
    // "There is no cost associated with the tool directly": OpenAI's draft of its guide.
    source: 'gist.github.com/stevenheidel/a6c8ed8ce1632dff1284e44a17554993, 2025-05-20',
  },
  {
    vendor: 'azure',
    models: all,
    // Grounding with Bing.
    fees: { web_search: '0.014' },
    source: 'github.com/microsoft/Foundry-Agent-Solution-Templates, docs/cost.md, 2026-09-07',
  },
  {
    vendor: 'anthropic',
    models: all,
    fees: { web_search: '0.01', web_fetch: '0' },
    source: 'platform.claude.com/docs/en/about-claude/pricing, 2026-05',
  },
  {
    vendor: 'xai',
    models: all,
    fees: { web_search: '0.005', code_session: '0.005' },
    source: 'docs.x.ai/developers/pricing, 2026-11',
  },
  {
    vendor: 'openrouter',
    models: /^google\/gemini-[12]/,
    // The model's own search costs its vendor's price: 35 dollars a thousand.
    fees: { web_search: '0.035' },
    source: 'openrouter.ai/docs/web-search; discuss.ai.google.dev/t/…/94046, 2026-08',
  },
  {
    vendor: 'openrouter',
    // Models that always search have fees of their own, which are not known here.
    models: /^(?!.*search-preview)/,
    // Five results at 4 dollars a thousand. More are refused (billable-features.ts).
    fees: { web_search: '0.02' },
    source: 'openrouter.ai/docs/features/web-search#pricing, 2026-08',
  },
];

/** The list fees of the vendor's tools for a model. `model`: the vendor's id of it. */
export function toolListFees(vendor: string, model: string): ToolListFees {
  const fitting = rows.filter((row) => row.vendor === vendor && row.models.test(model));
  return Object.assign({}, ...fitting.toReversed().map(({ fees }) => fees));
}
