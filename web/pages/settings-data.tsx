import { type ReactNode, useState } from 'react';
import { addressOf, send } from '../api/client.ts';
import { useMe, useSession } from '../api/data.ts';
import { ButtonAnchor } from '../components/button.tsx';
import { MaybeDisabled } from '../components/maybe-disabled.tsx';
import { Confirm } from '../components/dialog.tsx';
import { formatYuan, parseYuan } from '../format/money.ts';
import { settingsWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';

/** Exports the user's data, and closes the account. */
export function OwnData(): ReactNode {
  const { data: words } = useWords(settingsWords);
  const { id, name, role } = useMe();
  const { balance } = useSession();
  const left = balance?.total ?? '0.000000000';
  const [leaving, setLeaving] = useState(false);
  const close = async () => {
    await send('POST', 'me/close', { body: { id } });
    location.assign('/sign-in');
  };
  return (
    <div className="flex flex-col items-start gap-3">
      <ButtonAnchor icon="download" href={addressOf('account.json')} download>
        {words.export}
      </ButtonAnchor>
      <p className="text-caption text-muted">{words.exportHelp}</p>
      <MaybeDisabled
        disabledFor={role === 'operator' ? words.operator : undefined}
        onClick={() => setLeaving(true)}
      >
        {words.close}
      </MaybeDisabled>
      {leaving && (
        <Confirm
          onClose={() => setLeaving(false)}
          title={words.closeTitle}
          action={words.close}
          typed={name || id}
          onConfirm={close}
        >
          <p>{words.closeEffect}</p>
          {parseYuan(left) > 0n && (
            <p className="mt-2">{words.closeLeft(formatYuan(left, 'balance'))}</p>
          )}
        </Confirm>
      )}
    </div>
  );
}
