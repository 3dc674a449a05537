import { type ReactNode, useState } from 'react';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { Banner } from './banner.tsx';
import { Button } from './button.tsx';
import { errorText } from './error-panel.tsx';

/**
 * The object of a form as it was when the form opened. If somebody else saves it meanwhile, the
 * server reports a conflict, and nothing is overwritten.
 */
export function useOpened<Thing>(thing: Thing): Thing {
  return useState(() => thing)[0];
}

interface FormButtonsProps {
  /** The verb on the submit button. */
  readonly submit: string;
  readonly look?: 'primary' | 'danger';
  readonly busy?: boolean;
  readonly onCancel: () => void;
}

/** The submit and cancel buttons of a form. */
export function FormButtons({
  submit,
  look = 'primary',
  busy = false,
  onCancel,
}: FormButtonsProps): ReactNode {
  const { actions } = useWords(sharedWords);
  return (
    <div className="flex justify-end gap-2">
      <Button onClick={onCancel}>{actions.cancel}</Button>
      <Button look={look} type="submit" busy={busy}>
        {submit}
      </Button>
    </div>
  );
}

/** The error of a form, and its buttons. */
export function FormEnd({
  error,
  ...buttons
}: FormButtonsProps & { readonly error: Error | null }): ReactNode {
  const words = useWords(sharedWords);
  return (
    <>
      {error !== null && (
        <div role="alert">
          <Banner tone="bad">{errorText(error, words)}</Banner>
        </div>
      )}
      <FormButtons {...buttons} />
    </>
  );
}
