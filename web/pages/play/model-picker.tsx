import { clsx } from 'clsx';
import { type KeyboardEvent, type ReactNode, useId, useMemo, useRef, useState } from 'react';
import type { ModelRow } from '../../../src/console/contract.ts';
import { Field, TextInput, type Tied } from '../../components/field.tsx';
import { Icon } from '../../components/icon.tsx';
import { modelsWords, playgroundWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { type Language, useLanguage } from '../../words/language.ts';
import { useVendorName } from '../../words/vendor-names.ts';
import { type Ability, AbilityBadges, ModelId, abilities, hasAbility } from '../model-facts.tsx';
import { matching, sectionsOf } from './model-search.ts';
import { usePlace } from './popup-place.ts';
import { recentModels } from './recent-models.ts';

interface ModelPickerProps {
  readonly label: string;
  readonly models: readonly ModelRow[];
  readonly chosen: ModelRow | undefined;
  readonly onChange: (id: string) => void;
}

/** A field for one of many models. */
export function ModelField({
  help,
  ...rest
}: ModelPickerProps & { readonly help?: ReactNode }): ReactNode {
  return (
    <Field label={rest.label} help={help}>
      {(tied) => <ModelPicker tied={tied} {...rest} />}
    </Field>
  );
}

/** Chooses one of many models: by typing, by what they can, or from those tried last. */
export function ModelPicker({
  tied,
  label,
  models,
  chosen,
  onChange,
}: ModelPickerProps & { readonly tied?: Tied }): ReactNode {
  const { picker } = useWords(playgroundWords);
  const list = useId();
  const box = useRef<HTMLDivElement>(null);
  const { open, typed, can, marked, found, sections, ...act } = usePicking({
    models,
    chosen,
    onChange,
  });
  const place = usePlace(open, box);
  return (
    <div
      ref={box}
      className="relative min-w-0 flex-1"
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) act.close();
      }}
    >
      <TextInput
        {...(tied ?? { 'aria-label': label })}
        role="combobox"
        aria-expanded={open}
        aria-controls={open ? list : undefined}
        aria-autocomplete="list"
        aria-activedescendant={open && found.length > 0 ? `${list}-${marked}` : undefined}
        spellCheck={false}
        placeholder={chosen?.id ?? picker.search}
        value={open ? typed : (chosen?.id ?? '')}
        onChange={(event) => act.search(event.target.value)}
        onClick={act.show}
        onKeyDown={act.onKey}
        className="truncate pr-8"
      />
      <Icon
        name={open ? 'search' : 'down'}
        className="pointer-events-none absolute top-1/2 right-2.5 -translate-y-1/2 text-muted"
      />
      {open && (
        <div
          style={place}
          className="fixed z-30 flex flex-col overflow-hidden rounded-card border border-line bg-surface shadow-overlay"
        >
          <Abilities models={models} can={can} onChange={act.setCan} />
          <Options
            id={list}
            label={label}
            {...{ sections, marked, chosen }}
            onChoose={act.choose}
          />
          <p role="status" className="border-t border-line px-3 py-1 text-caption text-muted">
            {picker.found(found.length)}
          </p>
        </div>
      )}
    </div>
  );
}

/** What is typed, found and marked, and what the keys do. */
function usePicking({
  models,
  chosen,
  onChange,
}: Pick<ModelPickerProps, 'models' | 'chosen' | 'onChange'>) {
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  const [can, setCan] = useState<readonly Ability[]>([]);
  const [at, setAt] = useState(0);
  const language = useLanguage();
  const sections = useMemo(
    () => (open ? sectionsOf(matching(models, typed, can), recentModels(), language) : []),
    [open, models, typed, can, language],
  );
  const found = sections.flatMap((section) => section.models);
  const marked = Math.min(at, found.length - 1);
  const close = () => {
    setOpen(false);
    setTyped('');
  };
  const show = () => {
    if (open) return;
    setOpen(true);
    setAt(Math.max(0, indexIn(models, chosen, language)));
  };
  const choose = (model: ModelRow | undefined) => {
    if (model === undefined) return;
    onChange(model.id);
    close();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const step = steps[event.key];
    if (event.key === 'Escape' && open) close();
    else if (event.key === 'Enter' && open) choose(found[marked]);
    else if (step !== undefined && !open) show();
    else if (step !== undefined) setAt(Math.max(0, Math.min(marked + step, found.length - 1)));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const search = (text: string) => {
    show();
    setTyped(text);
    setAt(0);
  };
  return { open, typed, can, setCan, marked, found, sections, close, show, choose, search, onKey };
}

const steps: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
};

/** Where the list begins: at the chosen model. */
function indexIn(
  models: readonly ModelRow[],
  chosen: ModelRow | undefined,
  language: Language,
): number {
  const sections = sectionsOf(models, recentModels(), language);
  const ordered = sections.flatMap((section) => section.models);
  return chosen === undefined ? 0 : ordered.indexOf(chosen);
}

interface AbilitiesProps {
  readonly models: readonly ModelRow[];
  readonly can: readonly Ability[];
  readonly onChange: (can: readonly Ability[]) => void;
}

/** The abilities that some models have and others have not. */
function Abilities({ models, can, onChange }: AbilitiesProps): ReactNode {
  const words = useWords(modelsWords);
  const telling = abilities.filter((ability) => models.some((model) => hasAbility(model, ability)));
  if (telling.length === 0) return null;
  return (
    <div
      role="group"
      aria-label={words.can.label}
      className="flex flex-wrap gap-1.5 border-b border-line px-3 py-2"
    >
      {telling.map((ability) => (
        <button
          key={ability}
          type="button"
          aria-pressed={can.includes(ability)}
          data-tip={words.canHelp[ability]}
          // The field keeps the focus, and with it the keys.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() =>
            onChange(
              can.includes(ability) ? can.filter((each) => each !== ability) : [...can, ability],
            )
          }
          className={clsx(
            'h-6 rounded-badge border px-2 text-caption font-medium touch:h-10 touch:px-3',
            can.includes(ability)
              ? 'border-accent bg-accent-soft text-accent'
              : 'border-line text-muted hover:text-text',
          )}
        >
          {words.can[ability]}
        </button>
      ))}
    </div>
  );
}

interface OptionsProps {
  readonly id: string;
  readonly label: string;
  readonly sections: ReturnType<typeof sectionsOf>;
  readonly marked: number;
  readonly chosen: ModelRow | undefined;
  readonly onChoose: (model: ModelRow) => void;
}

function Options({ id, label, sections, marked, chosen, onChoose }: OptionsProps): ReactNode {
  const { picker } = useWords(playgroundWords);
  const vendorNameOf = useVendorName();
  const nameIn = (vendor: string | undefined) =>
    vendor === undefined ? picker.recent : vendorNameOf(vendor);
  const before = (section: number) =>
    sections.slice(0, section).reduce((sum, { models }) => sum + models.length, 0);
  return (
    <div
      id={id}
      role="listbox"
      tabIndex={-1}
      aria-label={label}
      // Its scroll bar is no place to write.
      onMouseDown={(event) => event.preventDefault()}
      className="min-h-0 flex-1 overflow-y-auto p-1.5"
    >
      {sections.map(({ vendor, models }, section) => (
        <div key={vendor ?? ''} role="group" aria-label={nameIn(vendor)}>
          <p aria-hidden="true" className="px-2 pt-1.5 pb-0.5 text-caption text-muted">
            {nameIn(vendor)}
          </p>
          {models.map((model, index) => (
            <Option
              key={model.id}
              id={`${id}-${before(section) + index}`}
              model={model}
              marked={before(section) + index === marked}
              chosen={model === chosen}
              onChoose={onChoose}
            />
          ))}
        </div>
      ))}
    </div>
  );
}

interface OptionProps {
  readonly id: string;
  readonly model: ModelRow;
  readonly marked: boolean;
  readonly chosen: boolean;
  readonly onChoose: (model: ModelRow) => void;
}

function Option({ id, model, marked, chosen, onChoose }: OptionProps): ReactNode {
  return (
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={chosen}
      ref={(element) => {
        if (marked) element?.scrollIntoView({ block: 'nearest' });
      }}
      onClick={() => onChoose(model)}
      className={clsx(
        'flex min-h-8 cursor-pointer flex-wrap items-center gap-x-2 gap-y-0.5 rounded-control px-2 py-1 text-table touch:min-h-11',
        marked ? 'bg-accent-soft' : 'hover:bg-sunken',
      )}
    >
      <span className="min-w-0 break-all">
        <ModelId id={model.id} />
      </span>
      {chosen && <Icon name="check" className="text-accent" />}
      <span className="ml-auto flex flex-wrap gap-1">
        <AbilityBadges model={model} />
      </span>
    </div>
  );
}
