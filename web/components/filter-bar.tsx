import { Popover } from 'radix-ui';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { Select, TextInput } from './field.tsx';

export interface FilterField {
  /** Its name in the address. */
  readonly name: string;
  readonly label: string;
  /** Value and label; without options the field is typed. */
  readonly options?: readonly (readonly [value: string, label: string])[];
  readonly placeholder?: string;
  /** Suggestions for a typed field. */
  readonly suggestions?: readonly string[] | undefined;
}

interface FilterBarProps {
  readonly fields: readonly FilterField[];
  /** From `useSearchState`; an empty value is no filter. */
  readonly value: Readonly<Record<string, string>>;
  readonly onChange: (change: Readonly<Record<string, string>>) => void;
  /** Called when the choices are opened: fetch them then. */
  readonly onOpen?: () => void;
  /** Beside the filter: export, zone. */
  readonly children?: ReactNode;
}

/**
 * The active filters of a list, as chips that can be removed; one button adds a filter. `/` opens
 * it.
 */
export function FilterBar({
  fields,
  value,
  onChange,
  onOpen,
  children,
}: FilterBarProps): ReactNode {
  const words = useWords(sharedWords);
  const set = fields.filter((field) => value[field.name]);
  const clear = () => onChange(Object.fromEntries(fields.map((field) => [field.name, ''])));
  return (
    <div className="flex flex-wrap items-center gap-2">
      <AddFilter fields={fields} value={value} onChange={onChange} {...(onOpen && { onOpen })} />
      {set.map((field) => (
        <Chip
          key={field.name}
          field={field}
          value={value[field.name] ?? ''}
          onRemove={() => onChange({ [field.name]: '' })}
        />
      ))}
      {set.length > 0 && (
        <Button look="ghost" size="small" onClick={clear}>
          {words.actions.clearFilter}
        </Button>
      )}
      <div className="ml-auto flex flex-wrap items-center gap-2">{children}</div>
    </div>
  );
}

function Chip({
  field,
  value,
  onRemove,
}: {
  readonly field: FilterField;
  readonly value: string;
  readonly onRemove: () => void;
}): ReactNode {
  const words = useWords(sharedWords);
  const shown = field.options?.find(([option]) => option === value)?.[1] ?? value;
  return (
    <span className="inline-flex h-7 max-w-72 items-center gap-1 rounded-control border border-line bg-accent-soft pl-2 text-table touch:h-10">
      <span className="text-muted">{field.label}</span>
      <span className="truncate">{shown}</span>
      <button
        type="button"
        aria-label={words.actions.remove(`${field.label} ${shown}`)}
        onClick={onRemove}
        className="grid size-7 place-items-center rounded-control text-muted hover:text-text touch:size-10"
      >
        <Icon name="close" className="size-3" />
      </button>
    </span>
  );
}

function AddFilter({
  fields,
  value,
  onChange,
  onOpen,
}: Pick<FilterBarProps, 'fields' | 'value' | 'onChange' | 'onOpen'>): ReactNode {
  const words = useWords(sharedWords);
  const [open, setOpen] = useState(false);
  const apply = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    onChange(Object.fromEntries(fields.map(({ name }) => [name, textOf(form.get(name))])));
    setOpen(false);
  };
  const turn = (next: boolean) => {
    setOpen(next);
    if (next) onOpen?.();
  };
  return (
    <Popover.Root open={open} onOpenChange={turn}>
      <Popover.Trigger asChild>
        <Button icon="filter" data-shortcut="filter">
          {words.actions.addFilter}
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="start"
          sideOffset={4}
          collisionPadding={8}
          aria-label={words.actions.addFilter}
          className="z-30 w-80 max-w-[calc(100vw-1rem)] rounded-card border border-line bg-surface p-3 shadow-overlay overlay-in"
        >
          <form onSubmit={apply} className="flex flex-col gap-3">
            {fields.map((field) => (
              <FilterControl key={field.name} field={field} value={value[field.name] ?? ''} />
            ))}
            <Button look="primary" type="submit">
              {words.actions.addFilter}
            </Button>
          </form>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function FilterControl({
  field,
  value,
}: {
  readonly field: FilterField;
  readonly value: string;
}): ReactNode {
  const id = useId();
  const words = useWords(sharedWords);
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-caption text-muted">
        {field.label}
      </label>
      {field.options === undefined ? (
        <>
          <TextInput
            id={id}
            name={field.name}
            defaultValue={value}
            placeholder={field.placeholder}
            {...(field.suggestions && { list: `${id}-list` })}
          />
          {field.suggestions && (
            <datalist id={`${id}-list`}>
              {field.suggestions.map((suggestion) => (
                <option key={suggestion}>{suggestion}</option>
              ))}
            </datalist>
          )}
        </>
      ) : (
        // Choices may arrive late; the key draws the field again, so that the chosen one is
        // selected.
        <Select key={field.options.length} id={id} name={field.name} defaultValue={value}>
          <option value="">{words.actions.all}</option>
          {field.options.map(([option, label]) => (
            <option key={option} value={option}>
              {label}
            </option>
          ))}
        </Select>
      )}
    </div>
  );
}

function textOf(entry: FormDataEntryValue | null): string {
  return typeof entry === 'string' ? entry.trim() : '';
}
