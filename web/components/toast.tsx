import {
  type ReactNode,
  createContext,
  use,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { Button, IconButton } from './button.tsx';
import { Icon } from './icon.tsx';

interface ToastText {
  readonly tone: 'done' | 'failed';
  readonly text: ReactNode;
  /** One action: Undo. It is offered for 8 s instead of 5. */
  readonly action?: { readonly label: string; readonly run: () => unknown };
}

interface Shown extends ToastText {
  readonly id: number;
}

const Show = createContext<(toast: ToastText) => void>(() => {});

/**
 * Reports results of the user's own actions: `toast({ tone: 'done', text: … })`. Failures stay
 * until they are closed, and are shown in place as well.
 */
export function useToast(): (toast: ToastText) => void {
  return use(Show);
}

export function Toasts({ children }: { readonly children: ReactNode }): ReactNode {
  const [toasts, setToasts] = useState<readonly Shown[]>([]);
  const count = useRef(0);
  const show = useCallback((toast: ToastText) => {
    count.current += 1;
    const shown = { ...toast, id: count.current };
    setToasts((all) => [...all.slice(-2), shown]);
  }, []);
  const close = useCallback(
    (id: number) => setToasts((all) => all.filter((toast) => toast.id !== id)),
    [],
  );
  const list = useMemo(
    () => toasts.map((toast) => <Toast key={toast.id} toast={toast} onClose={close} />),
    [toasts, close],
  );
  return (
    <Show value={show}>
      {children}
      <div
        role="status"
        aria-live="polite" // said by name, so that dialogs that are open do not hide it
        className="pointer-events-none fixed inset-x-3 top-3 z-60 flex flex-col items-end gap-2 sm:inset-x-auto sm:top-auto sm:right-4 sm:bottom-4"
      >
        {list}
      </div>
    </Show>
  );
}

function Toast({
  toast,
  onClose,
}: {
  readonly toast: Shown;
  readonly onClose: (id: number) => void;
}): ReactNode {
  const words = useWords(sharedWords);
  const { id, tone, text, action } = toast;
  const [held, setHeld] = useState(false);
  const lastsMs = action === undefined ? 5000 : 8000;
  useEffect(() => {
    if (tone === 'failed' || held) return undefined;
    const timer = setTimeout(() => onClose(id), lastsMs);
    return () => clearTimeout(timer);
  }, [tone, held, lastsMs, id, onClose]);
  return (
    <div
      className="pointer-events-auto flex w-full max-w-md items-center gap-2 rounded-card border border-line bg-surface py-2 pr-2 pl-3 text-table shadow-overlay overlay-in sm:w-auto"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <Icon
        name={tone === 'failed' ? 'failed' : 'check'}
        className={tone === 'failed' ? 'text-bad' : 'text-good'}
      />
      <span className="min-w-0 flex-1 py-1">{text}</span>
      {action !== undefined && (
        <Button
          size="small"
          onClick={() => {
            action.run();
            onClose(id);
          }}
        >
          {action.label}
        </Button>
      )}
      <IconButton
        icon="close"
        label={words.actions.close}
        size="small"
        onClick={() => onClose(id)}
      />
    </div>
  );
}
