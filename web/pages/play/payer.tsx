import { type ReactNode, useState } from 'react';
import type {
  KeyView,
  ModelKindName,
  ModelRow,
  ModelsView,
  Page as PageOf,
} from '../../../src/console/contract.ts';
import { useData, useSession } from '../../api/data.ts';
import { useSearchState } from '../../browser/search-state.ts';
import { Banner } from '../../components/banner.tsx';
import { ButtonLink, linkLook } from '../../components/button.tsx';
import { EmptyState } from '../../components/error-panel.tsx';
import { ChoiceField } from '../../components/choice.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Panel } from '../../components/page.tsx';
import { ApartLink } from '../apart-link.tsx';
import { playgroundWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { modelPath } from '../model-parts.tsx';
import { ModelField } from './model-picker.tsx';
import { usualModel } from './model-search.ts';
import { recentModels } from './recent-models.ts';

const searchDefaults = { model: '', key: '' };
const keysMax = 100;

/** The paying key and the model: every part of the playground begins with them. */
export interface Payer {
  readonly keyId: string;
  readonly model: ModelRow;
  readonly models: readonly ModelRow[];
  /** The group of the key, whose prices hold. */
  readonly group: string;
  /** The fields of both. */
  readonly choices: ReactNode;
  readonly keyField: ReactNode;
}

interface PaidProps {
  readonly kind: ModelKindName;
  readonly children: (payer: Payer) => ReactNode;
}

/** Waits for keys and models; without any, says which are missing. */
export function Paid({ kind, children }: PaidProps): ReactNode {
  const words = useWords(playgroundWords);
  const keys = useData<PageOf<KeyView>>('keys', { limit: keysMax });
  return (
    <Loaded query={keys}>
      {({ items }) => {
        const active = items.filter(({ state }) => state === 'active');
        if (active.length > 0)
          return (
            <PaidBy keys={active} kind={kind}>
              {children}
            </PaidBy>
          );
        return (
          <Panel>
            <EmptyState text={words.noKey}>
              <ButtonLink look="primary" icon="plus" to="/keys/new">
                {words.createKey}
              </ButtonLink>
            </EmptyState>
          </Panel>
        );
      }}
    </Loaded>
  );
}

const lastUsed = (keys: readonly KeyView[]): KeyView | undefined =>
  keys.toSorted((a, b) => (b.last_used_at ?? '').localeCompare(a.last_used_at ?? ''))[0];

function PaidBy({
  keys,
  kind,
  children,
}: PaidProps & { readonly keys: readonly KeyView[] }): ReactNode {
  const words = useWords(playgroundWords);
  const [{ key: wanted }] = useSearchState(searchDefaults);
  const key = keys.find(({ id }) => id === wanted) ?? lastUsed(keys);
  const models = useData<ModelsView>('models', { group: key?.group });
  return (
    <Loaded query={models}>
      {({ items, sample_model: sample }) => {
        const reached = key?.only_models;
        const some = items.filter(
          (model) => model.kind === kind && (reached?.includes(model.id) ?? true),
        );
        if (key !== undefined && some.length > 0)
          return (
            <Chosen paying={key} keys={keys} models={some} sample={sample}>
              {children}
            </Chosen>
          );
        return (
          <Panel>
            <EmptyState text={words.noModel}>
              <div className="w-72 max-w-full text-left">
                {key !== undefined && <KeySelect keys={keys} chosen={key} />}
              </div>
            </EmptyState>
          </Panel>
        );
      }}
    </Loaded>
  );
}

interface ChosenProps extends Pick<PaidProps, 'children'> {
  readonly paying: KeyView;
  readonly keys: readonly KeyView[];
  readonly models: readonly ModelRow[];
  /** The model for a first request. */
  readonly sample: string | null;
}

function Chosen({ paying, keys, models, sample, children }: ChosenProps): ReactNode {
  const words = useWords(playgroundWords);
  const [{ model: wanted }, set] = useSearchState(searchDefaults);
  const [recent] = useState(recentModels);
  const model = models.find(({ id }) => id === wanted) ?? usualModel(models, recent, sample);
  if (model === undefined) return null;
  const keyField = <KeySelect keys={keys} chosen={paying} />;
  const choices = (
    <>
      <ModelField
        label={words.model}
        help={<AboutModel path={modelPath(model.id, paying.group)} />}
        models={models}
        chosen={model}
        onChange={(id) => set({ model: id }, { replace: true })}
      />
      {keyField}
    </>
  );
  return (
    <div className="flex flex-col gap-4">
      <CannotPay />
      {children({ keyId: paying.id, group: paying.group, model, models, choices, keyField })}
    </div>
  );
}

/** Warns before a request fails: the balance pays for no model. */
function CannotPay(): ReactNode {
  const words = useWords(playgroundWords);
  const { balance } = useSession();
  if (balance?.empty !== true) return null;
  return (
    <Banner tone="warn" action={<ApartLink path="/top-up">{words.topUp}</ApartLink>}>
      {words.cannotPay}
    </Banner>
  );
}

function AboutModel({ path }: { readonly path: string }): ReactNode {
  const words = useWords(playgroundWords);
  return (
    <ApartLink path={path} className={`${linkLook} inline-flex min-h-6 items-center`}>
      {words.aboutModel}
    </ApartLink>
  );
}

function KeySelect({
  keys,
  chosen,
}: {
  readonly keys: readonly KeyView[];
  readonly chosen: KeyView;
}): ReactNode {
  const words = useWords(playgroundWords);
  const [, set] = useSearchState(searchDefaults);
  return (
    <ChoiceField
      label={words.key}
      value={chosen.id}
      options={keys.map(({ id, name, group }) => [id, words.keyOption(name, group)] as const)}
      onChange={(key) => set({ key }, { replace: true })}
    />
  );
}
