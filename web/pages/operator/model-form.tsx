import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { ModelBody, ModelKindName, OperatorModel } from '../../../src/console/contract.ts';
import { newIdempotencyKey, send } from '../../api/client.ts';
import { DayInput } from '../../components/day-input.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ChoiceField } from '../../components/choice.tsx';
import { Field, Fieldset, TextInput } from '../../components/field.tsx';
import { Form, type Mistakes, useOpened, useVersion } from '../../components/form.tsx';
import { useToast } from '../../components/toast.tsx';
import { mistakeIn } from '../../format/wrong-fields.ts';
import { isDay } from '../../format/day.ts';
import { type PriceLine, writtenPrices } from '../../format/written-price.ts';
import { modelsWords, priceWords, sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { operatorModelAddress, operatorModelPath, refreshModels } from './model-parts.ts';
import { PriceFields, refusedLines, wrongLines } from './price-fields.tsx';

const kinds = [
  'chat',
  'completion',
  'embedding',
  'image',
  'transcription',
  'speech',
  'rerank',
  'moderation',
  'video',
] as const;

interface Text {
  readonly id: string;
  readonly owner: string;
  readonly kind: string;
  readonly context: string;
  readonly output: string;
  readonly durations: string;
  readonly hedge: string;
  readonly shutdown: string;
}

const empty: Text = {
  id: '',
  owner: '',
  kind: '',
  context: '',
  output: '',
  durations: '',
  hedge: '',
  shutdown: '',
};

/** A model that the bundled list knows needs only its id. */
export function NewModel({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { model: words } = useWords(priceWords);
  const toast = useToast();
  const navigate = useNavigate();
  const [text, setText] = useState(empty);
  const [lines, setLines] = useState<readonly PriceLine[]>([]);
  const [idempotencyKey] = useState(newIdempotencyKey);
  const create = useMutation({
    mutationFn: (body: ModelBody) =>
      send<OperatorModel>('POST', 'operator/models', { body, idempotencyKey }),
    onSuccess: async ({ id }) => {
      toast({ tone: 'done', text: words.created(id) });
      await navigate({ to: operatorModelPath(id) as '/operator/models' });
      await refreshModels();
    },
  });
  const submit = () => {
    const priced = lines.some(({ amount }) => amount !== '');
    create.mutate({
      id: text.id.trim(),
      ...filledBody(text),
      ...(priced && { price: writtenPrices(lines) }),
    });
  };
  return (
    <Dialog onClose={onClose} title={words.createTitle}>
      <Form
        mistakes={{
          ...mistakes(text, words.number),
          ...(text.id.trim() === '' && { id: 'required' }),
          ...wrongLines(lines),
        }}
        saving={create}
        submit={words.createTitle}
        onSubmit={submit}
        onCancel={onClose}
      >
        {(errors) => (
          <>
            <ModelFields text={text} onChange={setText} errors={errors} />
            <Fieldset legend={words.price} help={words.priceHelp} error={errors['price']}>
              <PriceFields
                lines={lines}
                onChange={setLines}
                errors={{ ...errors, ...refusedLines(errors, 'price', lines) }}
              />
            </Fieldset>
          </>
        )}
      </Form>
    </Dialog>
  );
}

export function EditModel({
  model: shown,
  onClose,
}: {
  readonly model: OperatorModel;
  readonly onClose: () => void;
}): ReactNode {
  const model = useOpened(shown);
  const { version, onConflict } = useVersion(model.version);
  const { model: words } = useWords(priceWords);
  const { actions } = useWords(sharedWords);
  const toast = useToast();
  const start = textOf(model);
  const [text, setText] = useState(start);
  const save = useMutation({
    mutationFn: (body: ModelBody) =>
      send('PATCH', operatorModelAddress(model.id), { body, ifMatch: version }),
    onError: onConflict,
    onSuccess: async () => {
      toast({ tone: 'done', text: words.saved });
      onClose();
      await refreshModels();
    },
  });
  return (
    <Dialog onClose={onClose} title={words.editTitle(model.id)}>
      <Form
        mistakes={mistakes(text, words.number)}
        saving={save}
        mine={bodyOf(text)}
        submit={actions.save}
        onSubmit={() => save.mutate(changes(start, text))}
        onCancel={onClose}
      >
        {(errors) => <ModelFields text={text} onChange={setText} errors={errors} editing />}
      </Form>
    </Dialog>
  );
}

interface FieldsProps {
  readonly text: Text;
  readonly onChange: (text: Text) => void;
  readonly errors: Mistakes;
  readonly editing?: boolean;
}

function ModelFields({ text, onChange, errors, editing = false }: FieldsProps): ReactNode {
  const { model: words } = useWords(priceWords);
  const { kinds: names } = useWords(modelsWords);
  const input = (
    name: keyof Text,
    label: string,
    member: string,
    help?: string,
    more: Readonly<Record<string, unknown>> = {},
  ) => (
    <Field label={label} {...(help !== undefined && { help })} error={mistakeIn(errors, member)}>
      {(tied) => (
        <TextInput
          {...tied}
          {...more}
          value={text[name]}
          onChange={({ target }) => onChange({ ...text, [name]: target.value })}
        />
      )}
    </Field>
  );
  const number = { inputMode: 'numeric', className: 'figures' };
  return (
    <>
      {input('id', words.id, 'id', editing ? undefined : words.idHelp, { readOnly: editing })}
      <div className="grid gap-4 sm:grid-cols-2">
        {input('owner', words.owner, 'owned_by')}
        <ChoiceField
          label={words.kind}
          help={editing ? undefined : words.kindHelp}
          error={errors['kind']}
          value={text.kind}
          options={[
            ...(editing ? [] : [['', '—'] as const]),
            ...kinds.map((kind) => [kind, names[kind]] as const),
          ]}
          onChange={(kind) => onChange({ ...text, kind })}
        />
        {input('context', words.context, 'context', words.contextHelp, number)}
        {input('output', words.output, 'max_output', words.contextHelp, number)}
        {input('durations', words.durations, 'durations', words.durationsHelp)}
        {input('hedge', words.hedge, 'hedge_after_ms', words.hedgeHelp, number)}
        <Field label={words.shutdown} help={words.shutdownHelp} error={errors['shutdown_date']}>
          {(tied) => (
            <DayInput
              {...tied}
              value={text.shutdown}
              onChange={(shutdown) => onChange({ ...text, shutdown })}
            />
          )}
        </Field>
      </div>
    </>
  );
}

const count = /^[1-9]\d{0,11}$/;

function mistakes(
  { context, output, durations, hedge, shutdown }: Text,
  number: string,
): Readonly<Record<string, string>> {
  return {
    ...(context !== '' && !count.test(context) && { context: number }),
    ...(output !== '' && !count.test(output) && { max_output: number }),
    ...(hedge !== '' && !count.test(hedge) && { hedge_after_ms: number }),
    ...(shutdown !== '' && !isDay(shutdown) && { shutdown_date: 'not_a_day' }),
    ...(durations !== '' &&
      !secondsIn(durations).every((each) => count.test(each)) && { durations: number }),
  };
}

const secondsIn = (text: string): readonly string[] =>
  text.split(/[\s,，、]+/).filter((each) => each !== '');

function textOf(model: OperatorModel): Text {
  const {
    id,
    vendor,
    kind,
    context,
    output_tokens_max: output,
    durations,
    hedge_after_ms: hedge,
    shutdown_date: shutdown,
  } = model;
  return {
    id,
    kind,
    owner: vendor,
    context: context === null ? '' : String(context),
    output: output === null ? '' : String(output),
    durations: (durations ?? []).join(', '),
    hedge: hedge === null ? '' : String(hedge),
    shutdown: shutdown ?? '',
  };
}

/** The body for a new model: empty fields are left to the bundled list. */
function filledBody(text: Text): ModelBody {
  return Object.fromEntries(
    Object.entries(bodyOf(text)).filter(([, value]) => value !== null && value !== ''),
  );
}

function bodyOf({ owner, kind, context, output, durations, hedge, shutdown }: Text) {
  return {
    owned_by: owner.trim(),
    kind: kind as ModelKindName, // from the list of kinds
    context: context === '' ? null : Number(context),
    max_output: output === '' ? null : Number(output),
    durations: durations === '' ? null : secondsIn(durations).map(Number),
    hedge_after_ms: hedge === '' ? null : Number(hedge),
    shutdown_date: shutdown === '' ? null : shutdown,
  };
}

function changes(before: Text, after: Text): ModelBody {
  const was: Readonly<Record<string, unknown>> = bodyOf(before);
  return Object.fromEntries(
    Object.entries(bodyOf(after)).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(was[name]),
    ),
  );
}
