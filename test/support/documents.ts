/**
 * The author's instruction for a block, in a comment before it: `prints: PATTERN`, `runs: …`,
 * `started: …`, `set: …`, `not played: …`.
 */
interface Mark {
  readonly kind: string;
  readonly text: string;
}

export interface Block {
  readonly language: 'sh' | 'python' | 'ts';
  readonly code: string;
  /** Line of the fence, from 1. */
  readonly line: number;
  readonly mark: Mark | undefined;
}

const fence =
  /(?:^<!-- (?<kind>prints|runs|started|set|not played): (?<text>.*?) -->\n)?^```(?<language>sh|python|ts)\n(?<code>[\s\S]*?)^```$/gm;

/** The blocks of a page that a reader could run, in their order. */
export function blocksOf(page: string): readonly Block[] {
  return [...page.matchAll(fence)].map(({ groups = {}, index, 0: whole }) => {
    const { kind, text = '', language, code = '' } = groups;
    const line =
      page.slice(0, index).split('\n').length +
      whole.split('\n').findIndex((each) => each.startsWith('```'));
    const mark = kind === undefined ? undefined : { kind, text };
    return {
      language: language === 'python' || language === 'ts' ? language : 'sh',
      code,
      line,
      mark,
    };
  });
}

/** The result for a block whose interpreter is not installed here: only its syntax was checked. */
export const readerless = 'not run: there is no package for it here';
