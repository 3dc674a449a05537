import type { ReactNode } from 'react';
import type { VendorView } from '../../../src/console/contract.ts';
import { ChoiceField } from '../../components/choice.tsx';
import { Checkbox, Field, Fieldset, Textarea, TextInput } from '../../components/field.tsx';
import { mistakeIn } from '../../format/wrong-fields.ts';
import { channelWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { useVendorLabel } from '../../words/vendor-names.ts';
import { KeyFields, type KeySlot, secretsOf } from './channel-keys.tsx';
import { UnsavedTest } from './channel-test.tsx';
import { FetchModels, modelsIn, type NewPrices } from './vendor-models.tsx';

/** A channel as form fields. */
export interface ChannelText {
  readonly name: string;
  readonly vendor: string;
  readonly baseUrl: string;
  readonly keys: readonly KeySlot[];
  readonly groups: readonly string[];
  /** One model per line. */
  readonly models: string;
  readonly newPrices: NewPrices;
  /** Fetched models whose price nobody knows. */
  readonly unpriced: readonly string[];
  readonly priority: string;
  readonly weight: string;
  readonly billsCancelled: boolean;
}

interface FieldsProps {
  readonly text: ChannelText;
  readonly onChange: (change: Partial<ChannelText>) => void;
  readonly errors: Readonly<Record<string, string | undefined>>;
  readonly vendors: readonly VendorView[];
  readonly vendor: VendorView | undefined;
  readonly groups: readonly string[];
  /** The stored channel that is edited; undefined: a new one. */
  readonly editing: string | undefined;
  /** The stored key is for another host than the form now names. */
  readonly keyAgain: boolean;
}

export function ChannelFields(props: FieldsProps): ReactNode {
  const { text, onChange, errors, vendor, keyAgain } = props;
  const editing = props.editing !== undefined;
  const { form: words } = useWords(channelWords);
  const needsSecret = vendor?.needs_secret ?? true;
  const secretHelp = keyAgain
    ? words.secretAgain
    : editing
      ? words.secretKeep
      : needsSecret
        ? words.secretHelp
        : words.secretOptional;
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label={words.name} help={words.nameHelp} error={errors['name']}>
          {(tied) => (
            <TextInput
              {...tied}
              name="name"
              value={text.name}
              readOnly={editing}
              onChange={({ target }) => onChange({ name: target.value })}
            />
          )}
        </Field>
        <VendorChoice {...props} />
      </div>
      <BaseUrlField {...props} />
      <KeyFields
        slots={text.keys}
        label={needsSecret || editing ? words.secret : words.optional(words.secret)}
        onChange={(keys) => onChange({ keys })}
        help={secretHelp}
        error={
          errors['secret'] ??
          mistakeIn(errors, 'secrets') ??
          errors['api_key'] ??
          mistakeIn(errors, 'api_keys')
        }
      />
      <GroupChoice {...props} />
      <ModelLines {...props} />
      <FetchModels
        ask={askOf(props)}
        lines={text.models}
        prices={text.newPrices}
        errors={errors}
        onChange={onChange}
      />
      <Order {...props} />
      <Checkbox
        checked={text.billsCancelled}
        onChange={({ target }) => onChange({ billsCancelled: target.checked })}
      >
        {words.cancelled}
      </Checkbox>
      {!editing && <UnsavedTest draft={draftOf(text)} models={modelsIn(text.models)} />}
    </>
  );
}

/** What is typed; undefined: no vendor yet. */
function draftOf({ vendor, baseUrl, keys }: ChannelText) {
  if (vendor === '') return undefined;
  const secret = secretsOf(keys).find((key) => typeof key === 'string');
  return {
    vendor,
    ...(baseUrl.trim() !== '' && { base_url: baseUrl.trim() }),
    ...(secret !== undefined && { secret }),
  };
}

/** A stored channel is asked for with its stored key, unless another is typed. */
function askOf({ text, editing }: FieldsProps) {
  const draft = draftOf(text);
  const stored = editing !== undefined && draft !== undefined && draft.secret === undefined;
  return stored ? { vendor: draft.vendor, channel: editing } : draft;
}

function BaseUrlField({ text, onChange, errors, vendor }: FieldsProps): ReactNode {
  const { form: words } = useWords(channelWords);
  const standard = vendor?.default_base_url ?? null;
  const help =
    vendor === undefined
      ? words.baseUrlHelp
      : standard === null
        ? words.baseUrlNeeded
        : words.baseUrlDefault(standard);
  return (
    <Field
      label={help === words.baseUrlNeeded ? words.baseUrl : words.optional(words.baseUrl)}
      help={help}
      error={errors['base_url']}
    >
      {(tied) => (
        <TextInput
          {...tied}
          name="base_url"
          inputMode="url"
          value={text.baseUrl}
          placeholder={standard ?? ''}
          onChange={({ target }) => onChange({ baseUrl: target.value })}
        />
      )}
    </Field>
  );
}

function VendorChoice({ text, onChange, errors, vendors }: FieldsProps): ReactNode {
  const { form: words } = useWords(channelWords);
  const labelOf = useVendorLabel();
  return (
    <ChoiceField
      label={words.vendor}
      error={errors['vendor']}
      name="vendor"
      value={text.vendor}
      options={[
        ['', words.chooseVendor],
        ...vendors.map(({ name }) => [name, labelOf(name)] as const),
      ]}
      onChange={(vendor) => onChange({ vendor })}
    />
  );
}

function ModelLines({ text, onChange, errors, vendor }: FieldsProps): ReactNode {
  const { form: words } = useWords(channelWords);
  const own = vendor?.needs_secret === false;
  return (
    <Field
      label={own ? words.models : words.optional(words.models)}
      help={own ? words.modelsHelpOwn : words.modelsHelp}
      error={mistakeIn(errors, 'models')}
    >
      {(tied) => (
        <Textarea
          {...tied}
          name="models"
          className="font-mono text-caption"
          rows={Math.min(12, Math.max(4, text.models.split('\n').length))}
          value={text.models}
          onChange={({ target }) => onChange({ models: target.value })}
        />
      )}
    </Field>
  );
}

function Order({ text, onChange, errors }: FieldsProps): ReactNode {
  const { form: words } = useWords(channelWords);
  return (
    <div className="grid grid-cols-2 gap-4">
      {(['priority', 'weight'] as const).map((name) => (
        <Field
          key={name}
          label={words[name]}
          help={name === 'priority' ? words.priorityHelp : words.weightHelp}
          error={errors[name]}
        >
          {(tied) => (
            <TextInput
              {...tied}
              name={name}
              inputMode="numeric"
              className="figures"
              value={text[name]}
              onChange={({ target }) => onChange({ [name]: target.value.trim() })}
            />
          )}
        </Field>
      ))}
    </div>
  );
}

function GroupChoice({ text, onChange, groups, errors }: FieldsProps): ReactNode {
  const { form: words } = useWords(channelWords);
  const all = [...new Set([...groups, ...text.groups])];
  const turn = (name: string, on: boolean) =>
    onChange({ groups: on ? [...text.groups, name] : text.groups.filter((each) => each !== name) });
  return (
    <Fieldset legend={words.groups} error={mistakeIn(errors, 'groups')}>
      <div className="flex flex-wrap gap-x-4 gap-y-1">
        {all.map((name) => (
          <Checkbox
            key={name}
            checked={text.groups.includes(name)}
            onChange={({ target }) => turn(name, target.checked)}
          >
            <span className="wrap-anywhere">{name}</span>
          </Checkbox>
        ))}
      </div>
    </Fieldset>
  );
}
