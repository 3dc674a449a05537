import { clsx } from 'clsx';
import { AlertDialog, Dialog as Radix } from 'radix-ui';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { Button, IconButton } from './button.tsx';
import { FootPlace } from './dialog-foot.tsx';
import { Field, TextInput } from './field.tsx';
import { useErrorToast } from './error-panel.tsx';

const backdrop = 'fixed inset-0 z-40 bg-[rgb(0_0_0/0.4)] backdrop-in';
const sheet =
  'fixed z-50 flex flex-col bg-surface shadow-overlay outline-none overlay-in inset-0 sm:inset-auto sm:top-1/2 sm:left-1/2 sm:max-h-[85dvh] sm:w-[calc(100%-2rem)] sm:max-w-[560px] sm:-translate-x-1/2 sm:-translate-y-1/2 sm:rounded-card sm:border sm:border-line';

interface DialogProps {
  readonly onClose: () => void;
  readonly title: ReactNode;
  readonly description?: ReactNode;
  readonly children: ReactNode;
  /** Buttons, the main one last. */
  readonly footer?: ReactNode;
  /** Only its own buttons close it: for secrets that are shown once. */
  readonly locked?: boolean;
  readonly className?: string;
}

/**
 * Open while it is drawn. At most 560 px wide; a full sheet on a phone. Focus goes in, stays, and
 * returns to the element that opened it. Head and buttons stay in view. The buttons of a `Form` or
 * `Foot` inside stand after those of `footer`.
 */
export function Dialog({
  onClose,
  title,
  description,
  children,
  footer,
  locked = false,
  className,
}: DialogProps): ReactNode {
  const words = useWords(sharedWords);
  const keep = (event: Event) => event.preventDefault();
  return (
    <Radix.Root open onOpenChange={(next) => !next && !locked && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className={backdrop} />
        <Radix.Content
          className={clsx(sheet, className)}
          {...(description === undefined && { 'aria-describedby': undefined })}
          onOpenAutoFocus={focusField}
          {...(locked && { onEscapeKeyDown: keep, onInteractOutside: keep })}
        >
          <header className="flex items-center justify-between gap-3 border-b border-line px-4 py-2.5">
            <div className="min-w-0">
              <Radix.Title className="text-card font-semibold">{title}</Radix.Title>
              {description !== undefined && (
                <Radix.Description className="text-table text-muted">
                  {description}
                </Radix.Description>
              )}
            </div>
            {!locked && (
              <IconButton icon="close" label={words.actions.close} size="small" onClick={onClose} />
            )}
          </header>
          <Body footer={footer}>{children}</Body>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/**
 * Focuses the first field, or the dialog itself: never the button that closes it. Fields that come
 * later take the focus themselves (`autoFocus`).
 */
function focusField(event: Event): void {
  event.preventDefault();
  const dialog = event.currentTarget;
  if (!(dialog instanceof HTMLElement) || dialog.contains(document.activeElement)) return;
  (
    dialog.querySelector<HTMLElement>('input:not([type="hidden"]), select, textarea') ?? dialog
  ).focus();
}

/** Controls that use the arrow keys themselves. */
const ownArrows = 'input, select, textarea, [role="tab"], [role="region"]';

export interface DrawerProps {
  readonly onClose: () => void;
  readonly title: ReactNode;
  readonly children: ReactNode;
  readonly footer?: ReactNode;
  /** Moves between the records of the list behind it, by buttons and by ↑ ↓. */
  readonly onPrevious?: (() => void) | undefined;
  readonly onNext?: (() => void) | undefined;
}

/** A record beside its list: 560 px on the right, the whole screen on a phone. */
export function Drawer({
  onClose,
  title,
  children,
  footer,
  onPrevious,
  onNext,
}: DrawerProps): ReactNode {
  const words = useWords(sharedWords);
  const move = { ArrowUp: onPrevious, ArrowDown: onNext };
  return (
    <Radix.Root open onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className={backdrop} />
        <Radix.Content
          aria-describedby={undefined}
          className="fixed inset-0 z-50 flex flex-col bg-surface shadow-overlay outline-none drawer-in md:left-auto md:w-[560px] md:border-l md:border-line"
          onOpenAutoFocus={focusField}
          onKeyDown={(event) => {
            if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
            if (
              move[event.key] === undefined ||
              (event.target instanceof Element &&
                (event.target.matches('[data-middle]') || event.target.closest(ownArrows)))
            )
              return;
            event.preventDefault();
            move[event.key]?.();
          }}
        >
          <header className="flex items-center gap-1 border-b border-line px-4 py-2">
            <Radix.Title className="min-w-0 flex-1 truncate text-card font-semibold">
              {title}
            </Radix.Title>
            {onPrevious && (
              <IconButton
                icon="left"
                label={words.actions.previous}
                size="small"
                onClick={onPrevious}
              />
            )}
            {onNext && (
              <IconButton icon="right" label={words.actions.next} size="small" onClick={onNext} />
            )}
            <IconButton icon="close" label={words.actions.close} size="small" onClick={onClose} />
          </header>
          <Body footer={footer}>{children}</Body>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface Steps {
  readonly onPrevious: (() => void) | undefined;
  readonly onNext: (() => void) | undefined;
}

/** The steps of a drawer from `id` to the rows beside it in the list. */
export function stepsIn(
  rows: readonly { readonly id: string }[],
  id: string | undefined,
  open: (id: string) => void,
): Steps {
  const at = rows.findIndex((row) => row.id === id);
  const to = (place: number) => {
    const row = at < 0 ? undefined : rows[place];
    return row && (() => open(row.id));
  };
  return { onPrevious: to(at - 1), onNext: to(at + 1) };
}

interface ConfirmProps {
  readonly onClose: () => void;
  /** Names the object: `Disable ci-key?` */
  readonly title: ReactNode;
  /** The effect, in numbers. */
  readonly children?: ReactNode;
  /** The verb; never "OK". */
  readonly action: string;
  /** Resolves when it is done. An error is shown in place, and the dialog stays. */
  readonly onConfirm: () => Promise<unknown>;
  /** For actions that cannot be undone or move money: the name or amount that the user types. */
  readonly typed?: string;
}

/** For destructive actions. Focus starts on Cancel. */
export function Confirm(props: ConfirmProps): ReactNode {
  return (
    <AlertDialog.Root open onOpenChange={(next) => !next && props.onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className={backdrop} />
        <AlertDialog.Content
          className={clsx(
            sheet,
            'max-sm:inset-x-0 max-sm:top-auto max-sm:bottom-0 max-sm:max-h-[85dvh] max-sm:rounded-t-card',
          )}
        >
          <ConfirmBody {...props} />
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

function ConfirmBody({
  onClose,
  title,
  children,
  action,
  onConfirm,
  typed,
}: ConfirmProps): ReactNode {
  const words = useWords(sharedWords);
  const showError = useErrorToast();
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState(false);
  const [busy, setBusy] = useState(false);
  const confirm = async () => {
    if (typed !== undefined && text.trim() !== typed) return setWrong(true);
    setBusy(true);
    try {
      await onConfirm();
      onClose();
    } catch (error) {
      showError(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <AlertDialog.Title className="px-4 pt-4 text-card font-semibold">{title}</AlertDialog.Title>
      <Body
        footer={
          <>
            <AlertDialog.Cancel asChild>
              <Button>{words.actions.cancel}</Button>
            </AlertDialog.Cancel>
            <Button look="danger" busy={busy} onClick={() => void confirm()}>
              {action}
            </Button>
          </>
        }
      >
        <div className="flex flex-col gap-3">
          <AlertDialog.Description asChild>
            <div className="text-body text-muted">{children}</div>
          </AlertDialog.Description>
          {typed !== undefined && (
            <Field
              label={words.actions.typeToConfirm(typed)}
              error={wrong ? 'mismatch' : undefined}
            >
              {(tied) => (
                <TextInput
                  {...tied}
                  value={text}
                  onChange={(event) => {
                    setText(event.target.value);
                    setWrong(false);
                  }}
                />
              )}
            </Field>
          )}
        </div>
      </Body>
    </>
  );
}

interface BodyProps {
  readonly children: ReactNode;
  readonly footer: ReactNode;
}

/**
 * What every dialog has below its head: a middle that scrolls where it is longer than the window,
 * by the keyboard, too, and the buttons, which stay in view.
 */
function Body({ children, footer }: BodyProps): ReactNode {
  const [place, setPlace] = useState<HTMLElement | null>(null);
  const middle = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [scrolls, setScrolls] = useState(false);
  useEffect(() => {
    const box = middle.current;
    if (box === null || content.current === null) return undefined;
    const resized = new ResizeObserver(() => setScrolls(box.scrollHeight > box.clientHeight));
    for (const each of [box, content.current]) resized.observe(each);
    return () => resized.disconnect();
  }, []);
  return (
    <FootPlace value={place}>
      <div
        ref={middle}
        data-middle
        tabIndex={scrolls ? 0 : undefined}
        className="min-h-0 flex-1 overflow-y-auto -outline-offset-2"
      >
        <div ref={content} className="p-4">
          {children}
        </div>
      </div>
      <footer
        ref={setPlace}
        className="flex flex-wrap justify-end gap-2 border-t border-line px-4 py-3 pb-[max(0.75rem,env(safe-area-inset-bottom))] empty:hidden"
      >
        {footer}
      </footer>
    </FootPlace>
  );
}
