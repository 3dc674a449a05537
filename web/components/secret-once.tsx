import { type ReactNode, useState } from 'react';
import { keysWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { Banner } from './banner.tsx';
import { MaybeDisabled } from './maybe-disabled.tsx';
import { CopyButton } from './copy.tsx';
import { Dialog } from './dialog.tsx';
import { Checkbox } from './field.tsx';

interface SecretOnceProps {
  readonly secret: string;
  /** The variable's name in `export NAME=…`: `TOLLGATE_API_KEY`. */
  readonly variable: string;
  readonly onDone: () => void;
}

/**
 * Shows a secret that the server cannot show again. A click outside or Escape does not close it;
 * only Done does, once the secret was copied or the user confirmed that it is saved.
 */
export function SecretOnce({ secret, variable, onDone }: SecretOnceProps): ReactNode {
  const { secret: words } = useWords(keysWords);
  const [copied, setCopied] = useState(false);
  const [saved, setSaved] = useState(false);
  return (
    <Dialog
      locked
      onClose={onDone}
      title={words.title}
      footer={
        <MaybeDisabled
          look="primary"
          disabledFor={copied || saved ? undefined : words.save}
          onClick={onDone}
        >
          {words.done}
        </MaybeDisabled>
      }
    >
      <div className="flex flex-col gap-4">
        <Banner tone="warn">{words.text}</Banner>
        <code
          aria-label={words.label}
          className="block rounded-control border border-line bg-sunken p-3 font-mono text-table break-all select-all"
          data-secret
        >
          {secret}
        </code>
        <div className="flex flex-wrap gap-2">
          <CopyButton text={secret} onCopied={() => setCopied(true)}>
            {words.copy}
          </CopyButton>
          <CopyButton text={`export ${variable}=${secret}`} onCopied={() => setCopied(true)}>
            {words.copyVariable}
          </CopyButton>
        </div>
        <Checkbox checked={saved} onChange={(event) => setSaved(event.target.checked)}>
          {words.saved}
        </Checkbox>
      </div>
    </Dialog>
  );
}
