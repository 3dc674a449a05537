import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { CreatedKey, GroupView, List, NewKeyBody } from '../../src/console/contract.ts';
import { newIdempotencyKey, send } from '../api/client.ts';
import { useData } from '../api/data.ts';
import { Banner } from '../components/banner.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Loaded } from '../components/loaded.tsx';
import { SecretOnce } from '../components/secret-once.tsx';
import { useZone } from '../components/time.tsx';
import { keysWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { changeOf, KeyForm, newKey, type WrittenKey } from './key-fields.tsx';
import { keyVariable, refreshKeys } from './key-parts.tsx';

/**
 * The form, then the secret, shown once. Sent twice it creates one key: the form makes its
 * idempotency key when it opens.
 */
export function NewKey({ onClose }: { readonly onClose: () => void }): ReactNode {
  const words = useWords(keysWords);
  const zone = useZone();
  const [idempotencyKey] = useState(newIdempotencyKey);
  const [secret, setSecret] = useState<string | null>();
  const groups = useData<List<GroupView>>('groups');
  const create = useMutation({
    mutationFn: (body: NewKeyBody) => send<CreatedKey>('POST', 'keys', { body, idempotencyKey }),
    gcTime: 0, // the secret stays in no cache
    onSuccess: ({ secret: made }) => {
      setSecret(made);
      void refreshKeys();
    },
  });
  if (typeof secret === 'string')
    return <SecretOnce secret={secret} variable={keyVariable} onDone={onClose} />;
  return (
    <Dialog onClose={onClose} title={words.form.title}>
      {secret === null ? (
        <Banner tone="warn">{words.secret.gone}</Banner>
      ) : (
        <Loaded query={groups}>
          {({ items }) => (
            <KeyForm
              before={newKey(items)}
              groups={items}
              saving={create}
              submit={words.form.submit}
              onSubmit={(key) => create.mutate(bodyOf(key, zone))}
              onCancel={onClose}
            />
          )}
        </Loaded>
      )}
    </Dialog>
  );
}

/** Fields that stay as a new form has them are not sent; name and group always are. */
const bodyOf = (key: WrittenKey, zone: string): NewKeyBody => ({
  name: key.name.trim(),
  group: key.group,
  ...changeOf(key, newKey([]), zone),
});
