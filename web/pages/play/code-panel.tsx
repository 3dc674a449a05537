import { type ReactNode, useState } from 'react';
import { CodeBlock, type CodeLanguage } from '../../components/code-block.tsx';
import { Panel } from '../../components/page.tsx';
import { Segments } from '../../components/segments.tsx';
import { type CodeTab, type Sample, codeTabs } from '../../samples/client.ts';

const names: Readonly<Record<CodeTab, string>> = {
  curl: 'curl',
  python: 'Python',
  typescript: 'TypeScript',
};
const languages: Readonly<Record<CodeTab, CodeLanguage>> = {
  curl: 'shell',
  python: 'python',
  typescript: 'typescript',
};

interface CodePanelProps {
  readonly title: string;
  readonly note: string;
  readonly sample: Sample;
  readonly className?: string;
}

let last: CodeTab = 'curl';

/** The same call in three languages; the language chosen last stays. */
export function CodePanel({ title, note, sample, className = '' }: CodePanelProps): ReactNode {
  const [tab, setTab] = useState<CodeTab>(last);
  const choose = (next: CodeTab) => {
    last = next;
    setTab(next);
  };
  return (
    <Panel
      title={title}
      className={className}
      actions={
        <Segments
          label={title}
          value={tab}
          onChange={choose}
          options={codeTabs.map((each) => [each, names[each]] as const)}
        />
      }
    >
      <div className="flex flex-col gap-2">
        <CodeBlock code={sample[tab]} language={languages[tab]} label={names[tab]} />
        <p className="text-caption text-muted">{note}</p>
      </div>
    </Panel>
  );
}
