import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { GroupView, KeyChange, KeyDetail, KeyView, List } from '../../src/console/contract.ts';
import { send } from '../api/client.ts';
import { useData } from '../api/data.ts';
import { Dialog } from '../components/dialog.tsx';
import { useOpened } from '../components/form.tsx';
import { Loaded } from '../components/loaded.tsx';
import { useZone } from '../components/time.tsx';
import { useToast } from '../components/toast.tsx';
import { keysWords, sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { changeOf, KeyForm, writtenKey } from './key-fields.tsx';
import { refreshKeys } from './key-parts.tsx';

/**
 * Sends only the changed fields, with the version that was read, so that a change by somebody else
 * meanwhile is not overwritten.
 */
export function EditKey({
  detail: shown,
  onClose,
}: {
  readonly detail: KeyDetail;
  readonly onClose: () => void;
}): ReactNode {
  const detail = useOpened(shown);
  const words = useWords(keysWords);
  const { actions } = useWords(sharedWords);
  const zone = useZone();
  const before = writtenKey(detail, zone);
  const groups = useData<List<GroupView>>('groups');
  const toast = useToast();
  const save = useMutation({
    mutationFn: (body: KeyChange) =>
      send<KeyView>('PATCH', `keys/${detail.id}`, { body, ifMatch: detail.version }),
    onSuccess: () => {
      toast({ tone: 'done', text: words.detail.saved });
      onClose();
    },
    onSettled: () => refreshKeys(),
  });
  return (
    <Dialog onClose={onClose} title={words.detail.editTitle(detail.name)}>
      <Loaded query={groups}>
        {({ items }) => (
          <KeyForm
            before={before}
            groups={items}
            saving={save}
            submit={actions.save}
            note={words.detail.limitsCount}
            onSubmit={(key) => save.mutate(changeOf(key, before, zone))}
            onCancel={onClose}
          />
        )}
      </Loaded>
    </Dialog>
  );
}
