import { clsx } from 'clsx';
import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

export const itemLook =
  'flex min-h-8 cursor-pointer items-center gap-2 rounded-badge px-2 text-table outline-none data-[highlighted]:bg-accent-soft touch:min-h-11';

interface MenuProps {
  /** A Button or IconButton. */
  readonly trigger: ReactNode;
  readonly children: ReactNode;
  readonly align?: 'start' | 'end';
  /** Its button was pressed before this file was loaded. */
  readonly defaultOpen?: boolean;
}

export function Menu({
  trigger,
  children,
  align = 'end',
  defaultOpen = false,
}: MenuProps): ReactNode {
  return (
    <DropdownMenu.Root modal={false} defaultOpen={defaultOpen}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className="z-60 max-h-[70dvh] min-w-44 overflow-y-auto rounded-card border border-line bg-surface p-1 shadow-overlay overlay-in"
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

interface MenuItemProps {
  readonly icon?: IconName;
  readonly danger?: boolean;
  readonly tip?: string;
  readonly onSelect?: () => void;
  /** The child is a link that takes the looks. */
  readonly asChild?: boolean;
  readonly children: ReactNode;
}

export function MenuItem({
  icon,
  danger = false,
  tip,
  onSelect,
  asChild = false,
  children,
}: MenuItemProps): ReactNode {
  return (
    <DropdownMenu.Item
      asChild={asChild}
      data-tip={tip}
      onSelect={() => onSelect?.()}
      className={clsx(itemLook, danger && 'text-bad')}
    >
      {asChild ? (
        children
      ) : (
        <>
          {icon !== undefined && <Icon name={icon} className={danger ? '' : 'text-muted'} />}
          {children}
        </>
      )}
    </DropdownMenu.Item>
  );
}

interface MenuChoiceProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [value: Value, label: string])[];
  readonly onChange: (value: Value) => void;
}

/** One of several: language, theme, rows per page. */
export function MenuChoice<Value extends string>({
  label,
  value,
  options,
  onChange,
}: MenuChoiceProps<Value>): ReactNode {
  return (
    <DropdownMenu.RadioGroup
      aria-label={label}
      value={value}
      onValueChange={(next) => onChange(next as Value)}
    >
      {options.map(([option, text]) => (
        <DropdownMenu.RadioItem key={option} value={option} className={itemLook}>
          <Tick />
          {text}
        </DropdownMenu.RadioItem>
      ))}
    </DropdownMenu.RadioGroup>
  );
}

/** The place of the tick of an item that is chosen. */
export function Tick(): ReactNode {
  return (
    <span className="grid size-4 place-items-center text-accent">
      <DropdownMenu.ItemIndicator>
        <Icon name="check" />
      </DropdownMenu.ItemIndicator>
    </span>
  );
}

export function MenuRule(): ReactNode {
  return <DropdownMenu.Separator className="my-1 h-px bg-line" />;
}

export function MenuLabel({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <DropdownMenu.Label className="truncate px-2 py-1 text-caption text-muted">
      {children}
    </DropdownMenu.Label>
  );
}
