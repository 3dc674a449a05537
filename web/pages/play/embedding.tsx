import { clsx } from 'clsx';
import { type ReactNode, useState } from 'react';
import { useSession } from '../../api/data.ts';
import { Field, TextInput, Textarea } from '../../components/field.tsx';
import { formatYuan } from '../../format/money.ts';
import { mostOfTokens, tokensAtMost } from '../../format/price.ts';
import { embeddingSample } from '../../samples/embedding.ts';
import { playgroundWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { numberOf } from './chat-form.ts';
import { CostBefore } from './cost-before.tsx';
import { Asked, Bench } from './layout.tsx';
import type { Payer } from './payer.tsx';
import { useRun } from './run.ts';
import { cosine, textsOf } from './similarity.ts';

const textsMax = 12;
const dimensionsRange = { least: 1, most: 100_000, step: 1, rest: 1 };

interface Compared {
  readonly texts: readonly string[];
  readonly vectors: readonly (readonly number[])[];
}

/** Turns texts into vectors, and tells how similar they are. */
export function Embedding(payer: Payer): ReactNode {
  const { embedding: words } = useWords(playgroundWords);
  const { base_url: baseUrl } = useSession();
  const [typed, setTyped] = useState('');
  const [dimensions, setDimensions] = useState('');
  const [checked, setChecked] = useState(false);
  const { run, start, stop } = useRun(payer, comparedOf(textsOf(typed)));
  const texts = textsOf(typed);
  const asked = numberOf(dimensions, dimensionsRange);
  const wrong = texts.length < 2 || texts.length > textsMax;
  const body = {
    model: payer.model.id,
    input: texts.length === 0 ? textsOf(words.placeholder) : texts,
    ...(asked != null && { dimensions: asked }),
  };
  const go = () => {
    setChecked(true);
    if (!wrong && asked !== null) void start('play/embeddings', { body });
  };
  return (
    <Bench
      sample={embeddingSample(baseUrl, body)}
      settings={
        <>
          {payer.choices}
          <Dimensions value={dimensions} wrong={asked === null} onChange={setDimensions} />
        </>
      }
      work={
        <Asked
          run={run}
          question={
            <Field
              label={words.texts}
              help={words.textsHelp(textsMax)}
              error={checked && wrong ? words.needTexts(textsMax) : undefined}
            >
              {(tied) => (
                <Textarea
                  {...tied}
                  dir="auto"
                  rows={6}
                  placeholder={words.placeholder}
                  value={typed}
                  onChange={(event) => setTyped(event.target.value)}
                />
              )}
            </Field>
          }
          cost={<Cost payer={payer} texts={texts} />}
          words={{ empty: words.empty, running: words.comparing }}
          onRun={go}
          onStop={stop}
        >
          {(answer) => (
            <>
              <Matrix {...answer} />
              <p className="text-caption text-muted">
                {words.about(answer.vectors[0]?.length ?? 0)}
              </p>
            </>
          )}
        </Asked>
      }
    />
  );
}

/** Reads the answer to a request with these texts. */
const comparedOf =
  (texts: readonly string[]) =>
  async (response: Response): Promise<Compared> => {
    // parsing: the API's own response
    const { data }: { data: readonly { index: number; embedding: readonly number[] }[] } =
      await response.json();
    return {
      texts,
      vectors: data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => embedding),
    };
  };

function Cost({
  payer: { model },
  texts,
}: {
  readonly payer: Payer;
  readonly texts: readonly string[];
}): ReactNode {
  const words = useWords(playgroundWords);
  const most = mostOfTokens(model.prices, tokensAtMost(texts.join('\n')), 0);
  if (most === undefined) return words.byUse;
  return <CostBefore most={most} text={words.atMost(formatYuan(most, 'row'))} />;
}

interface DimensionsProps {
  readonly value: string;
  readonly wrong: boolean;
  readonly onChange: (value: string) => void;
}

function Dimensions({ value, wrong, onChange }: DimensionsProps): ReactNode {
  const { embedding: words, chat } = useWords(playgroundWords);
  return (
    <Field
      label={words.dimensions}
      help={words.dimensionsHelp}
      error={
        wrong
          ? chat.betweenWhole(String(dimensionsRange.least), String(dimensionsRange.most))
          : undefined
      }
    >
      {(tied) => (
        <TextInput
          {...tied}
          inputMode="numeric"
          placeholder={chat.notSent}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

/** How similar each text is to each other. The more, the stronger the ground. */
function Matrix({ texts, vectors }: Compared): ReactNode {
  const { embedding: words } = useWords(playgroundWords);
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={words.similarity}>
      <table className="border-collapse text-table figures">
        <caption className="sr-only">{words.similarity}</caption>
        <thead>
          <tr>
            <th scope="col" className="px-2 py-1 text-start font-medium">
              {words.text}
            </th>
            {texts.map((_, at) => (
              <th key={at} scope="col" className="px-2 py-1 text-right font-medium">
                {at + 1}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {texts.map((text, row) => (
            <tr key={row} className="border-t border-line">
              <th scope="row" className="max-w-72 px-2 py-1 text-start font-normal">
                <bdi className="line-clamp-2">
                  {row + 1} · {text}
                </bdi>
              </th>
              {texts.map((_, column) => (
                <Cell
                  key={column}
                  value={cosine(vectors[row] ?? [], vectors[column] ?? [])}
                  same={row === column}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const strongest = 40;

function Cell({ value, same }: { readonly value: number; readonly same: boolean }): ReactNode {
  const share = same ? 0 : Math.round(Math.max(0, value) * strongest);
  return (
    <td
      className={clsx('px-2 py-1 text-right', same && 'text-faint')}
      style={{
        background: `color-mix(in srgb, var(--color-accent) ${share}%, var(--color-surface))`,
      }}
    >
      {value.toFixed(3)}
    </td>
  );
}
