import { type ReactNode, useId } from 'react';
import { Button, type ButtonProps } from './button.tsx';

interface MaybeDisabledProps extends ButtonProps {
  /**
   * Why it cannot be pressed: told below it. The button stays in the tab order, so that screen
   * readers tell it, too.
   */
  readonly disabledFor: string | undefined;
}

/** A button and, while it cannot be pressed, the reason below it. */
export function MaybeDisabled({ disabledFor, ...button }: MaybeDisabledProps): ReactNode {
  const id = useId();
  if (disabledFor === undefined)
    return (
      <span className="contents">
        <Button {...button} />
      </span>
    );
  return (
    <span className="inline-flex max-w-60 flex-col items-start gap-1 text-left [.justify-end>&]:items-end [.justify-end>&]:text-right">
      <Button {...button} aria-disabled aria-describedby={id} />
      <span id={id} className="text-caption text-muted">
        {disabledFor}
      </span>
    </span>
  );
}
