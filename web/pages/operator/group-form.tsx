import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type {
  GroupBody,
  GroupPreview,
  List,
  OperatorGroup,
  OperatorModel,
  PolicyName,
} from '../../../src/console/contract.ts';
import { newIdempotencyKey, send } from '../../api/client.ts';
import { refresh, useData } from '../../api/data.ts';
import { Banner } from '../../components/banner.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ChoiceField } from '../../components/choice.tsx';
import { Field, Textarea, TextInput } from '../../components/field.tsx';
import { Form, type Mistakes, type Saving, useOpened, useVersion } from '../../components/form.tsx';
import { mistakeIn } from '../../format/wrong-fields.ts';
import { useToast } from '../../components/toast.tsx';
import { plainAmount } from '../../format/amount.ts';
import { signedPercent } from '../../format/count.ts';
import { formatYuan, shortest } from '../../format/money.ts';
import { lineKey, priceText } from '../../format/price.ts';
import { atMultiplier } from '../../format/written-price.ts';
import { priceWords, sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { useLineName } from '../model-parts.tsx';
import { pathName } from './parts.tsx';

export const groupAddress = (name: string): string => `operator/groups/${pathName(name)}`;
export const refreshGroups = (): Promise<void> => refresh('operator/groups');

interface Text {
  readonly name: string;
  readonly multiplier: string;
  readonly rpm: string;
  readonly tpm: string;
  readonly concurrency: string;
  readonly policy: PolicyName;
  /** One model per line. */
  readonly fallbacks: string;
}

const emptyGroup: Text = {
  name: '',
  multiplier: '1',
  rpm: '',
  tpm: '',
  concurrency: '',
  policy: 'weighted',
  fallbacks: '',
};

const limits = ['rpm', 'tpm', 'concurrency'] as const;
const policies: readonly PolicyName[] = ['weighted', 'latency', 'cost', 'sticky'];

export function NewGroup({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { groups: words } = useWords(priceWords);
  const toast = useToast();
  const navigate = useNavigate();
  const [idempotencyKey] = useState(newIdempotencyKey);
  const create = useMutation({
    mutationFn: (body: GroupBody) =>
      send<OperatorGroup>('POST', 'operator/groups', { body, idempotencyKey }),
    onSuccess: async ({ name }) => {
      toast({ tone: 'done', text: words.created(name) });
      await navigate({ to: '/operator/groups/$name', params: { name } });
      await refreshGroups();
    },
  });
  return (
    <Dialog onClose={onClose} title={words.createTitle}>
      <GroupForm
        start={emptyGroup}
        saving={create}
        submit={words.createTitle}
        onSubmit={(text) => create.mutate({ name: text.name.trim(), ...bodyOf(text) })}
        onCancel={onClose}
      />
    </Dialog>
  );
}

export function EditGroup({
  group: shown,
  onClose,
}: {
  readonly group: OperatorGroup;
  readonly onClose: () => void;
}): ReactNode {
  const group = useOpened(shown);
  const { version, onConflict } = useVersion(group.version);
  const { groups: words } = useWords(priceWords);
  const { actions } = useWords(sharedWords);
  const toast = useToast();
  const save = useMutation({
    mutationFn: (body: GroupBody) =>
      send('PATCH', groupAddress(group.name), { body, ifMatch: version }),
    onError: onConflict,
    onSuccess: async () => {
      toast({ tone: 'done', text: words.saved });
      onClose();
      await refreshGroups();
    },
  });
  const number = (value: number | null) => (value === null ? '' : String(value));
  const { name, multiplier, rpm, tpm, concurrency, policy, fallback_models: models } = group;
  return (
    <Dialog onClose={onClose} title={words.editTitle(name)}>
      <GroupForm
        start={{
          name,
          multiplier: shortest(multiplier),
          rpm: number(rpm),
          tpm: number(tpm),
          concurrency: number(concurrency),
          policy,
          fallbacks: models.join('\n'),
        }}
        editing={group}
        saving={save}
        submit={actions.save}
        onSubmit={(text) => save.mutate(bodyOf(text))}
        onCancel={onClose}
      />
    </Dialog>
  );
}

function bodyOf({ multiplier, rpm, tpm, concurrency, policy, fallbacks }: Text): GroupBody {
  const limit = (text: string) => (text === '' ? null : Number(text));
  return {
    multiplier,
    rpm: limit(rpm),
    tpm: limit(tpm),
    concurrency: limit(concurrency),
    policy,
    fallback_models: fallbacks.split(/[\s,，]+/).filter((model) => model !== ''),
  };
}

interface FormProps {
  readonly start: Text;
  readonly editing?: OperatorGroup;
  readonly saving: Saving;
  readonly submit: string;
  readonly onSubmit: (text: Text) => void;
  readonly onCancel: () => void;
}

const isMultiplier = (text: string): boolean => /^\d{1,4}(\.\d{1,6})?$/.test(text);
const isCount = (text: string): boolean => text === '' || /^[1-9]\d{0,11}$/.test(text);

function GroupForm({ start, editing, onSubmit, ...form }: FormProps): ReactNode {
  const { groups: words } = useWords(priceWords);
  const [text, setText] = useState(start);
  const set = (change: Partial<Text>) => setText((old) => ({ ...old, ...change }));
  const mistakes = {
    ...(text.name.trim() === '' && { name: 'required' }),
    ...(!isMultiplier(text.multiplier) && { multiplier: words.multiplierWrong }),
    ...Object.fromEntries(
      limits.filter((name) => !isCount(text[name])).map((name) => [name, words.number]),
    ),
  };
  const differs =
    editing !== undefined &&
    isMultiplier(text.multiplier) &&
    shortest(text.multiplier) !== start.multiplier;
  return (
    <Form {...form} mistakes={mistakes} mine={bodyOf(text)} onSubmit={() => onSubmit(text)}>
      {(errors) => (
        <>
          <Field label={words.name} help={words.nameHelp} error={errors['name']}>
            {(tied) => (
              <TextInput
                {...tied}
                value={text.name}
                readOnly={editing !== undefined}
                onChange={({ target }) => set({ name: target.value })}
              />
            )}
          </Field>
          <Field
            label={words.multiplier}
            help={words.multiplierHelp}
            error={errors['multiplier'] ?? errors['price_multiplier']}
          >
            {(tied) => (
              <TextInput
                {...tied}
                inputMode="decimal"
                className="figures"
                value={text.multiplier}
                onChange={({ target }) => set({ multiplier: plainAmount(target.value) })}
              />
            )}
          </Field>
          {differs && <MultiplierPreview group={editing} multiplier={text.multiplier} />}
          <LimitFields text={text} errors={errors} onChange={set} />
          <ChoiceField
            label={words.policy}
            help={words.policies[text.policy].help}
            error={errors['policy']}
            value={text.policy}
            options={policies.map((policy) => [policy, words.policies[policy].name] as const)}
            onChange={(policy) => set({ policy })}
          />
          <FallbacksField text={text} errors={errors} onChange={set} />
        </>
      )}
    </Form>
  );
}

interface FieldsProps {
  readonly text: Text;
  readonly errors: Mistakes;
  readonly onChange: (change: Partial<Text>) => void;
}

function LimitFields({ text, errors, onChange }: FieldsProps): ReactNode {
  const { groups: words } = useWords(priceWords);
  return (
    <div className="grid gap-4 sm:grid-cols-3">
      <p className="text-caption text-muted sm:col-span-3">{words.limitsNote}</p>
      {limits.map((name) => (
        <Field
          key={name}
          label={words.columns[name]}
          help={words.limitHelp}
          error={errors[name] ?? errors[`limits.${name}`]}
        >
          {(tied) => (
            <TextInput
              {...tied}
              inputMode="numeric"
              className="figures"
              value={text[name]}
              onChange={({ target }) => onChange({ [name]: target.value.replace(/[,，\s]/g, '') })}
            />
          )}
        </Field>
      ))}
    </div>
  );
}

function FallbacksField({ text, errors, onChange }: FieldsProps): ReactNode {
  const { groups: words } = useWords(priceWords);
  return (
    <Field
      label={words.fallbacks}
      help={words.fallbacksHelp}
      error={mistakeIn(errors, 'fallback_models')}
    >
      {(tied) => (
        <Textarea
          {...tied}
          rows={2}
          value={text.fallbacks}
          onChange={({ target }) => onChange({ fallbacks: target.value })}
        />
      )}
    </Field>
  );
}

/** The prices of the group's keys now and with the new multiplier, each rounded up as charged. */
function MultiplierPreview({
  group,
  multiplier,
}: {
  readonly group: OperatorGroup;
  readonly multiplier: string;
}): ReactNode {
  const { groups: words } = useWords(priceWords);
  const nameOf = useLineName();
  const models = useData<List<OperatorModel>>('operator/models').data?.items ?? [];
  const listed = models.filter(({ id }) => group.models.some((each) => each.id === id));
  const title = words.preview(shortest(group.multiplier), multiplier);
  return (
    <section className="rounded-control border border-line">
      <h3 className="border-b border-line px-3 py-2 text-table font-medium">{title}</h3>
      <RevenueEffect group={group} multiplier={multiplier} />
      <ul
        className="max-h-60 divide-y divide-line overflow-y-auto text-table"
        tabIndex={0}
        aria-label={title}
      >
        {listed.map(({ id, prices }) => (
          <li key={id} className="px-3 py-1.5">
            <p className="truncate font-medium">{id}</p>
            {prices.map((price) => (
              <p key={lineKey(price)} className="flex justify-between gap-3 text-caption">
                <span className="text-muted">{nameOf(price)}</span>
                <span className="figures">
                  {priceText(atMultiplier(price, group.multiplier))} →{' '}
                  {priceText(atMultiplier(price, multiplier))}
                </span>
              </p>
            ))}
          </li>
        ))}
      </ul>
      <p className="border-t border-line px-3 py-2 text-caption text-muted">
        {words.previewNote(group.keys)}
      </p>
    </section>
  );
}

/** The revenue that the multiplier would have brought with the group's recent usage. */
function RevenueEffect({
  group: { name },
  multiplier,
}: {
  readonly group: OperatorGroup;
  readonly multiplier: string;
}): ReactNode {
  const { groups: words, editor } = useWords(priceWords);
  const preview = useQuery({
    queryKey: [`${groupAddress(name)}/preview`, multiplier],
    queryFn: () =>
      send<GroupPreview>('POST', `${groupAddress(name)}/preview`, { body: { multiplier } }),
    placeholderData: keepPreviousData,
  });
  if (preview.data === undefined) return null;
  const { revenue, users, below_vendor_cost: below } = preview.data;
  const change = editor.change(formatYuan(revenue.now, 'spend'), formatYuan(revenue.new, 'spend'));
  return (
    <div className="flex flex-col gap-2 border-b border-line px-3 py-2 text-table">
      {users === 0 ? (
        <p className="text-muted">{words.previewNobody}</p>
      ) : (
        <p className="flex flex-wrap justify-between gap-x-3">
          <span>{words.previewRevenue(users)}</span>
          <span className="figures">
            {change}{' '}
            {revenue.change !== null && (
              <b className="font-medium">{editor.percent(signedPercent(revenue.change))}</b>
            )}
          </span>
        </p>
      )}
      {below.length > 0 && <Banner tone="warn">{words.previewBelow(below.join(' · '))}</Banner>}
    </div>
  );
}
