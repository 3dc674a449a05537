import { useMutation } from '@tanstack/react-query';
import { type ChangeEvent, type ReactNode, useRef, useState } from 'react';
import type { ImportBody, PriceImportReport } from '../../../src/console/contract.ts';
import { send } from '../../api/client.ts';
import { Banner } from '../../components/banner.tsx';
import { FormProblem } from '../../components/form.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import { DocsLink } from '../../components/docs-link.tsx';
import { Fact, Facts } from '../../components/facts.tsx';
import { Button } from '../../components/button.tsx';
import { useErrorToast } from '../../components/error-panel.tsx';
import { Checkbox, Field, Textarea } from '../../components/field.tsx';
import { Page, Panel } from '../../components/page.tsx';
import { useToast } from '../../components/toast.tsx';
import { operatorWords, priceWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { ImportLists } from './import-lists.tsx';
import { refreshModels } from './model-parts.ts';
import { ReasonField } from './parts.tsx';

const example = `id,input,cached_input,output
my-model,2,0.2,3`;
/** The columns that most lists have, by what they hold. */
const columnsOf = {
  id: ['id'],
  tokens: ['input', 'cached_input', 'output'],
  pieces: ['image', 'second', 'request'],
  character: ['character'],
} as const;
const contents = ['id', 'tokens', 'pieces', 'character'] as const;

/** Compares a price list first; then all of it is published, or nothing. */
export function ImportPage(): ReactNode {
  const { import: words, models } = useWords(priceWords);
  const [text, setText] = useState('');
  const [compared, setCompared] = useState('');
  const compare = useMutation({
    mutationFn: (list: string) => take({ text: list, dry_run: true }),
    onMutate: (list) => setCompared(list),
  });
  const change = (next: string) => {
    setText(next);
    if (next !== compared) compare.reset();
  };
  return (
    <Page title={words.title} above={[{ label: models.title, to: '/operator/models' }]}>
      <Panel>
        <div className="flex flex-col gap-4">
          <Field label={words.text} help={words.help}>
            {(tied) => (
              <Textarea
                {...tied}
                rows={12}
                spellCheck={false}
                className="font-mono text-caption"
                value={text}
                onChange={({ target }) => change(target.value)}
              />
            )}
          </Field>
          <Columns />
          <p className="text-table text-muted">{words.note}</p>
          <div className="flex flex-wrap gap-2">
            <FileButton onText={change} />
            <Button
              look={compare.data?.refused.length === 0 ? 'secondary' : 'primary'}
              busy={compare.isPending}
              onClick={() => text.trim() !== '' && compare.mutate(text)}
            >
              {words.dryRun}
            </Button>
          </div>
          <FormProblem error={compare.error} />
        </div>
      </Panel>
      {compare.data && (
        <>
          <Publish
            report={compare.data}
            text={compared}
            onDone={() => {
              setText('');
              compare.reset();
            }}
          />
          <ImportLists report={compare.data} />
        </>
      )}
    </Page>
  );
}

/** What the columns of a table hold, with a line that can be taken as it stands. */
function Columns(): ReactNode {
  const { import: words } = useWords(priceWords);
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <div className="flex flex-col gap-2">
        <h2 className="text-table font-semibold">{words.columns}</h2>
        <Facts>
          {contents.map((what) => (
            <Fact key={what} name={<ColumnNames names={columnsOf[what]} />}>
              {words.columnsOf[what]}
            </Fact>
          ))}
        </Facts>
        <p className="text-table">
          <DocsLink to="config" heading="price">
            {words.reference}
          </DocsLink>
        </p>
      </div>
      <CodeBlock code={example} language="shell" label={words.sample} />
    </div>
  );
}

function ColumnNames({ names }: { readonly names: readonly string[] }): ReactNode {
  return (
    <span className="flex flex-wrap gap-x-2 font-mono text-caption">
      {names.map((name) => (
        <code key={name}>{name}</code>
      ))}
    </span>
  );
}

const take = (body: ImportBody): Promise<PriceImportReport> =>
  send('POST', 'operator/prices/import', { body });

function FileButton({ onText }: { readonly onText: (text: string) => void }): ReactNode {
  const { import: words } = useWords(priceWords);
  const input = useRef<HTMLInputElement>(null);
  const read = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const [file] = target.files ?? [];
    if (file !== undefined) onText(await file.text());
    target.value = ''; // the same file can be chosen again
  };
  return (
    <>
      <input
        ref={input}
        type="file"
        accept=".yaml,.yml,.json,.csv,text/*"
        className="hidden"
        onChange={(event) => void read(event)}
      />
      <Button icon="up" onClick={() => input.current?.click()}>
        {words.file}
      </Button>
    </>
  );
}

interface PublishProps {
  readonly report: PriceImportReport;
  readonly text: string;
  readonly onDone: () => void;
}

function Publish({ report, text, onDone }: PublishProps): ReactNode {
  const { import: words } = useWords(priceWords);
  const { comma } = useWords(operatorWords);
  const toast = useToast();
  const showError = useErrorToast();
  const [reason, setReason] = useState('');
  const [wrong, setWrong] = useState(false);
  const [accepted, setAccepted] = useState(false);
  const farOff = farOffIn(report);
  const isAccepted = farOff.length === 0 || accepted;
  const count = report.new.length + report.changed.length;
  const publish = useMutation({
    mutationFn: () =>
      take({ text, dry_run: false, reason: reason.trim(), accept_far_off: accepted }),
    onSuccess: async ({ published }) => {
      if (!published) return;
      toast({ tone: 'done', text: words.published(count) });
      onDone();
      await refreshModels();
    },
    onError: (error) => showError(error),
  });
  if (report.refused.length > 0) return <Banner tone="bad">{words.refusedAll}</Banner>;
  if (count === 0) return <Banner tone="good">{words.nothing}</Banner>;
  const submit = () => {
    const isWrong = reason.trim() === '' || !isAccepted;
    setWrong(isWrong);
    if (!isWrong) publish.mutate();
  };
  return (
    <Panel>
      <div className="flex flex-col gap-3">
        <p>{words.dry}</p>
        {farOff.length > 0 && (
          <Banner tone="bad">
            <p className="wrap-anywhere">{words.farOff(farOff.join(comma))}</p>
            <Checkbox
              className="mt-1"
              checked={accepted}
              onChange={({ target }) => setAccepted(target.checked)}
            >
              {words.farOffAccept}
            </Checkbox>
            {wrong && !isAccepted && (
              <p role="alert" className="font-medium text-bad">
                {words.farOffRequired}
              </p>
            )}
          </Banner>
        )}
        <ReasonField
          value={reason}
          onChange={setReason}
          error={wrong && reason.trim() === '' ? 'required' : undefined}
        />
        <FormProblem error={publish.error} />
        <div className="flex justify-end">
          <Button look="primary" busy={publish.isPending} onClick={submit}>
            {words.publish}
          </Button>
        </div>
      </div>
    </Panel>
  );
}

/** The models with a price that was probably written for another unit. */
const farOffIn = (report: PriceImportReport): readonly string[] => [
  ...report.new.filter(({ far_off: off }) => off).map(({ model }) => model),
  ...report.changed
    .filter(({ changes }) => changes.some(({ far_off: off }) => off))
    .map(({ model }) => model),
];
