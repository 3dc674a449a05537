import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { KeyRotation, KeyView, RotatedKey } from '../../src/console/contract.ts';
import { newIdempotencyKey, send } from '../api/client.ts';
import { Banner } from '../components/banner.tsx';
import { Button } from '../components/button.tsx';
import { Confirm, Dialog } from '../components/dialog.tsx';
import { useErrorToast } from '../components/error-panel.tsx';
import { ChoiceField } from '../components/choice.tsx';
import { Form, useOpened } from '../components/form.tsx';
import { SecretOnce } from '../components/secret-once.tsx';
import { Time } from '../components/time.tsx';
import { useToast } from '../components/toast.tsx';
import { Rich } from '../words/rich.tsx';
import { keysWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { keyVariable, refreshKeys, shownKey } from './key-parts.tsx';

interface ActProps {
  readonly keyView: KeyView;
  readonly onClose: () => void;
}

const graces = ['24h', '1h', '7d', 'now'] as const satisfies readonly KeyRotation['grace'][];

/** Asks how long the old secret works on, then shows the new one, once. */
export function RotateKey({ keyView: shown, onClose }: ActProps): ReactNode {
  const key = useOpened(shown);
  const { rotate: words } = useWords(keysWords);
  const [grace, setGrace] = useState<KeyRotation['grace']>('24h');
  const [idempotencyKey] = useState(newIdempotencyKey);
  const rotation = useMutation({
    mutationFn: (body: KeyRotation) =>
      send<RotatedKey>('POST', `keys/${key.id}/rotate`, {
        body,
        ifMatch: key.version,
        idempotencyKey,
      }),
    gcTime: 0, // the secret stays in no cache
    onSettled: () => refreshKeys(),
  });
  if (rotation.data !== undefined)
    return <SecretOnce secret={rotation.data.secret} variable={keyVariable} onDone={onClose} />;
  return (
    <Dialog onClose={onClose} title={words.title(key.name || key.id)}>
      <Form
        saving={rotation}
        submit={words.action}
        onSubmit={() => rotation.mutate({ grace })}
        onCancel={onClose}
      >
        <p className="text-table">{words.effect}</p>
        {key.old_secret !== null && <Banner tone="warn">{words.endsOlder}</Banner>}
        <ChoiceField
          label={words.grace}
          name="grace"
          value={grace}
          options={graces.map((each) => [each, words.graces[each]] as const)}
          onChange={setGrace}
        />
      </Form>
    </Dialog>
  );
}

/** How long the secret before the last rotation works, and the end of that. */
export function OldSecret({
  keyView: { id, old_secret: old },
}: Pick<ActProps, 'keyView'>): ReactNode {
  const { rotate: words } = useWords(keysWords);
  const showError = useErrorToast();
  const toast = useToast();
  const end = useMutation({
    mutationFn: () => send<KeyView>('POST', `keys/${id}/end-old-secret`),
    onSuccess: () => toast({ tone: 'done', text: words.ended }),
    onError: showError,
    onSettled: () => refreshKeys(),
  });
  if (old === null) return null;
  return (
    <Banner
      tone="warn"
      action={
        <Button size="small" busy={end.isPending} onClick={() => end.mutate()}>
          {words.endNow}
        </Button>
      }
    >
      <Rich
        text={words.oldWorks}
        last4={<span className="font-mono">…{old.last4}</span>}
        time={<Time at={old.works_until} />}
      />
    </Banner>
  );
}

/** What is deleted stays deleted: the key's name is typed. */
export function DeleteKey({
  keyView: shown,
  onClose,
  onDeleted,
}: ActProps & { readonly onDeleted?: () => Promise<void> }): ReactNode {
  const key = useOpened(shown);
  const { remove: words } = useWords(keysWords);
  const toast = useToast();
  const remove = async () => {
    await send('DELETE', `keys/${key.id}`, { ifMatch: key.version }).catch(async (error) => {
      await refreshKeys();
      throw error;
    });
    toast({ tone: 'done', text: words.done(key.name || key.id) });
    await onDeleted?.();
    await refreshKeys();
  };
  return (
    <Confirm
      onClose={onClose}
      title={words.title(key.name || key.id)}
      action={words.action}
      typed={key.name || key.id}
      onConfirm={remove}
    >
      {words.effect(shownKey(key))}
    </Confirm>
  );
}
