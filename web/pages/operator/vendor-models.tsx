import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import type {
  ModelBody,
  VendorModel,
  VendorModelsBody,
  VendorModelsView,
} from '../../../src/console/contract.ts';
import { send } from '../../api/client.ts';
import { Banner } from '../../components/banner.tsx';
import { FormProblem, type Mistakes } from '../../components/form.tsx';
import { Button } from '../../components/button.tsx';
import { MaybeDisabled } from '../../components/maybe-disabled.tsx';
import { Checkbox, TextInput } from '../../components/field.tsx';
import { Icon } from '../../components/icon.tsx';
import { mistakeIn } from '../../format/wrong-fields.ts';
import { plainAmount } from '../../format/amount.ts';
import { priceText } from '../../format/price.ts';
import { channelWords, modelsWords, sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { lineError } from './price-fields.tsx';

/** The prices that the operator writes for models that nobody sells yet, by model. */
export type NewPrices = Readonly<
  Record<string, { readonly input: string; readonly output: string }>
>;

/** Lines of `id` or `id = name at the vendor`. */
export function modelsIn(
  text: string,
): readonly { readonly id: string; readonly upstream?: string }[] {
  return text.split('\n').flatMap((line) => {
    const [id = '', upstream = ''] = line.split(/\s=\s/).map((part) => part.trim());
    if (id === '') return [];
    return upstream === '' ? [{ id }] : [{ id, upstream }];
  });
}

/** The named models that have a new price, as the API takes them. */
export function newModelsIn(text: string, prices: NewPrices): readonly ModelBody[] {
  return modelsIn(text).flatMap(({ id }) => {
    const { input = '', output = '' } = prices[id] ?? {};
    if (input === '' && output === '') return [];
    return { id, price: { ...(input !== '' && { input }), ...(output !== '' && { output }) } };
  });
}

/** The field of a model's new price among the mistakes of the form. */
const priceField = (id: string): string => `price of ${id}`;

/** What the new prices lack: a model that nobody sells needs both. */
export function wrongPrices(
  text: string,
  { unpriced, newPrices }: { readonly unpriced: readonly string[]; readonly newPrices: NewPrices },
  missing: (model: string) => string,
): Mistakes {
  const named = modelsIn(text).filter(({ id }) => unpriced.includes(id));
  return Object.fromEntries(
    named.map(({ id }) => {
      const { input = '', output = '' } = newPrices[id] ?? {};
      return [
        priceField(id),
        input === '' || output === '' ? missing(id) : (priceError(input) ?? priceError(output)),
      ];
    }),
  );
}

/** The mistakes that the server found in the new models of a form as it was sent, by field. */
export const refusedPrices = (
  wrong: Mistakes,
  { models, newPrices }: { readonly models: string; readonly newPrices: NewPrices },
): Mistakes =>
  Object.fromEntries(
    newModelsIn(models, newPrices).flatMap(({ id = '' }, index) => {
      const what = mistakeIn(wrong, `new_models[${index}]`);
      return what === undefined ? [] : [[priceField(id), what]];
    }),
  );

const priceError = (amount: string): string | undefined =>
  lineError({ class: 'input', unit: 'token', per: 1_000_000, amount });

const isWrong = (amount: string): boolean => amount === '' || priceError(amount) !== undefined;

interface Change {
  readonly models?: string;
  readonly newPrices?: NewPrices;
  readonly unpriced?: readonly string[];
}

interface Props {
  /** Undefined: no vendor is chosen yet. */
  readonly ask: VendorModelsBody | undefined;
  /** One model per line. */
  readonly lines: string;
  readonly prices: NewPrices;
  readonly errors: Mistakes;
  readonly onChange: (change: Change) => void;
}

/** Asks the vendor for its list of models, and ticks them into the form. */
export function FetchModels({ ask, ...rest }: Props): ReactNode {
  const { fetch: words } = useWords(channelWords);
  const fetched = useMutation({
    mutationFn: (body: VendorModelsBody) =>
      send<VendorModelsView>('POST', 'operator/vendor-models', { body }),
    onSuccess: ({ models }) =>
      rest.onChange({ unpriced: models.flatMap(({ id, prices }) => (prices === null ? id : [])) }),
  });
  const { data } = fetched;
  return (
    <section className="flex flex-col gap-2">
      <div>
        <MaybeDisabled
          icon="download"
          busy={fetched.isPending}
          disabledFor={ask === undefined ? words.chooseVendor : undefined}
          onClick={() => ask && fetched.mutate(ask)}
        >
          {words.button}
        </MaybeDisabled>
      </div>
      <FormProblem error={fetched.error} />
      {data?.failure && (
        <Banner tone="bad">
          {words.failures[data.failure.code]}
          {data.failure.status !== null && ` (HTTP ${data.failure.status})`}
        </Banner>
      )}
      {data !== undefined && data.models.length > 0 && <Choice models={data.models} {...rest} />}
    </section>
  );
}

/** So many are drawn at once; a search finds the others. */
const drawnMax = 200;

function Choice({
  models,
  lines,
  prices,
  errors,
  onChange,
}: Omit<Props, 'ask'> & { readonly models: readonly VendorModel[] }): ReactNode {
  const { fetch: words } = useWords(channelWords);
  const [search, setSearch] = useState('');
  const chosen = new Set(modelsIn(lines).map(({ id }) => id));
  const found = models.filter(({ id, upstream }) =>
    `${id} ${upstream}`.toLowerCase().includes(search.trim().toLowerCase()),
  );
  // A chosen model that needs a price stays in sight: the form may be refused for it.
  const first = new Set(found.slice(0, drawnMax));
  const drawn = models.filter(
    (model) => first.has(model) || (model.prices === null && chosen.has(model.id)),
  );
  const set = (some: readonly VendorModel[], on: boolean) => {
    const ids = new Set(some.map(({ id }) => id));
    const kept = lines.split('\n').filter((line) => !modelsIn(line).some(({ id }) => ids.has(id)));
    const added = on
      ? some.map(({ id, upstream }) => (id === upstream ? id : `${id} = ${upstream}`))
      : [];
    onChange({ models: [...kept, ...added].join('\n').trim() });
  };
  const priced = found.filter((model) => model.prices !== null);
  return (
    <div className="rounded-control border border-line">
      <div className="flex flex-wrap items-center gap-2 border-b border-line p-2">
        <TextInput
          type="search"
          className="min-w-40 flex-1"
          aria-label={words.search}
          placeholder={words.search}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
        <Button onClick={() => set(priced, true)}>{words.all(priced.length)}</Button>
        <Button onClick={() => set(found, false)}>{words.none}</Button>
      </div>
      <p className="border-b border-line px-3 py-2 text-caption text-muted">{words.pricesHelp}</p>
      <ul className="max-h-80 divide-y divide-line overflow-y-auto" aria-label={words.title}>
        {drawn.map((model) => (
          <Row
            key={model.upstream}
            model={model}
            on={chosen.has(model.id)}
            onTurn={(on) => set([model], on)}
            price={prices[model.id]}
            error={errors[priceField(model.id)]}
            onPrice={(price) => onChange({ newPrices: { ...prices, [model.id]: price } })}
          />
        ))}
      </ul>
      <p className="border-t border-line px-3 py-2 text-caption text-muted" aria-live="polite">
        {words.count(chosen.size, models.length)}
        {found.length > drawnMax && ` ${words.more(found.length - drawnMax)}`}
      </p>
    </div>
  );
}

interface RowProps {
  readonly model: VendorModel;
  readonly on: boolean;
  readonly onTurn: (on: boolean) => void;
  readonly price: NewPrices[string] | undefined;
  readonly error: string | undefined;
  readonly onPrice: (price: NewPrices[string]) => void;
}

function Row({ model, on, onTurn, price, error, onPrice }: RowProps): ReactNode {
  const { fetch: words } = useWords(channelWords);
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5">
      <Checkbox
        className="min-w-40 flex-1"
        checked={on}
        onChange={({ target }) => onTurn(target.checked)}
      >
        <span className="wrap-anywhere">{model.id}</span>
        {model.id !== model.upstream && (
          <span className="block text-caption wrap-anywhere text-muted">{model.upstream}</span>
        )}
      </Checkbox>
      {model.sold && <span className="text-caption text-good">{words.sold}</span>}
      {model.prices !== null ? (
        <ListPrice prices={model.prices} sold={model.sold} />
      ) : on ? (
        <NewPrice
          id={model.id}
          price={price ?? { input: '', output: '' }}
          error={error}
          onPrice={onPrice}
        />
      ) : (
        <span className="text-caption text-muted">{words.noPrice}</span>
      )}
    </li>
  );
}

interface ListPriceProps {
  readonly prices: NonNullable<VendorModel['prices']>;
  readonly sold: boolean;
}

/** What users pay for it now, or would pay once it is sold. */
function ListPrice({ prices, sold }: ListPriceProps): ReactNode {
  const { fetch: words } = useWords(channelWords);
  const { classes } = useWords(modelsWords);
  const shown = prices.filter(
    (price) => price.variant === undefined && price.above_input_tokens === undefined,
  );
  const main = ['input', 'output'] as const;
  const tokens = main.flatMap((name) => shown.find((price) => price.class === name) ?? []);
  return (
    <span className="text-caption text-muted figures">
      {!sold && `${words.soldAt} `}
      {(tokens.length > 0 ? tokens : shown.slice(0, 1))
        .map((price) => `${classes[price.class]} ${priceText(price.amount)}`)
        .join(' · ')}
    </span>
  );
}

/** Yuan per million tokens, for a model whose price nobody knows yet. */
function NewPrice({
  id,
  price,
  error,
  onPrice,
}: {
  readonly id: string;
  readonly price: NewPrices[string];
  readonly error: string | undefined;
  readonly onPrice: (price: NewPrices[string]) => void;
}): ReactNode {
  const { fetch: words } = useWords(channelWords);
  const { classes } = useWords(modelsWords);
  const { errors } = useWords(sharedWords);
  const errorId = useId();
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-1 text-caption text-muted">
      {words.forUsers}
      {(['input', 'output'] as const).map((name) => (
        <label key={name} className="flex items-center gap-2">
          {classes[name]}
          <span className="w-20">
            <TextInput
              aria-label={words.priceOf(id, classes[name])}
              aria-invalid={error !== undefined && isWrong(price[name]) ? true : undefined}
              aria-describedby={error === undefined ? undefined : errorId}
              inputMode="decimal"
              className="figures"
              value={price[name]}
              onChange={({ target }) => onPrice({ ...price, [name]: plainAmount(target.value) })}
            />
          </span>
        </label>
      ))}
      {words.perMillion}
      {error !== undefined && (
        <span id={errorId} className="flex basis-full items-start gap-1 text-bad">
          <Icon name="failed" className="mt-px" />
          {errors.fields[error] ?? error}
        </span>
      )}
    </span>
  );
}
