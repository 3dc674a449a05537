import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { UserAnswer, UserView } from '../../../src/console/contract.ts';
import { send } from '../../api/client.ts';
import { refresh } from '../../api/data.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Form } from '../../components/form.tsx';
import { useToast } from '../../components/toast.tsx';
import { userMark } from './user-mark.ts';
import { peopleWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { ReasonField } from './parts.tsx';
import { userAddress, UserName } from './user-name.tsx';

interface BulkProps {
  readonly users: readonly UserView[];
  readonly onClear: () => void;
}

/** What can be done with the selected users. */
export function UsersBulk({ users, onClear }: BulkProps): ReactNode {
  const { users: words, user: acts } = useWords(peopleWords);
  const [chosen, setChosen] = useState<Omit<BulkDialogProps, 'onClose' | 'onDone'>>();
  if (users.length === 0) return null;
  return (
    <div
      role="region"
      aria-label={words.bulk.column}
      className="flex flex-wrap items-center gap-2 rounded-control border border-line bg-accent-soft px-3 py-2 text-table"
    >
      <span className="mr-auto font-medium">{words.bulk.count(users.length)}</span>
      {(['suspend', 'restore'] as const).map((turn) => {
        // Only users whose state it changes; the dialog keeps them while their states change.
        const met = users.filter(({ state }) => (state === 'suspended') === (turn === 'restore'));
        return (
          met.length > 0 && (
            <Button key={turn} size="small" onClick={() => setChosen({ users: met, turn })}>
              {acts[turn]}
            </Button>
          )
        );
      })}
      <Button size="small" onClick={onClear}>
        {words.bulk.clear}
      </Button>
      {chosen !== undefined && (
        <BulkDialog {...chosen} onClose={() => setChosen(undefined)} onDone={onClear} />
      )}
    </div>
  );
}

interface BulkDialogProps {
  readonly users: readonly UserView[];
  readonly turn: 'suspend' | 'restore';
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** One user after the other; the first that is refused ends it, and is named. */
function BulkDialog({ users, turn, onClose, onDone }: BulkDialogProps): ReactNode {
  const { bulk: words } = useWords(peopleWords).users;
  const { user: acts } = useWords(peopleWords);
  const toast = useToast();
  const [reason, setReason] = useState('');
  const [done, setDone] = useState(0);
  const act = useMutation({
    async mutationFn() {
      for (const [index, { id }] of users.entries()) {
        if (index < done) continue;
        const body = { reason: reason.trim() };
        await send<UserAnswer>('POST', `${userAddress(id)}/${turn}`, { body });
        setDone(index + 1);
      }
    },
    onSuccess() {
      const { length } = users;
      toast({
        tone: 'done',
        text: turn === 'suspend' ? words.suspended(length) : words.restored(length),
      });
      onDone();
    },
    onSettled() {
      void refresh('operator/users');
    },
  });
  const next = users[done];
  const refused = next === undefined ? '' : `${next.name} ${userMark(next.id, next.email)}`;
  const title = turn === 'suspend' ? words.suspendTitle : words.restoreTitle;
  return (
    <Dialog onClose={onClose} title={title(users.length)}>
      <Form
        mistakes={{ ...(reason.trim() === '' && { reason: 'required' }) }}
        saving={act}
        submit={turn === 'suspend' ? acts.suspend : acts.restore}
        look={turn === 'suspend' ? 'danger' : 'primary'}
        onSubmit={() => act.mutate()}
        onCancel={onClose}
      >
        {(errors) => (
          <>
            <p>{turn === 'suspend' ? words.suspendText : words.restoreText}</p>
            <ul className="flex flex-col gap-2">
              {users.map((user) => (
                <li key={user.id} className="flex text-table">
                  <UserName user={user} />
                </li>
              ))}
            </ul>
            <ReasonField value={reason} onChange={setReason} error={errors['reason']} />
            {act.error !== null && <p>{words.stopped(done, refused)}</p>}
          </>
        )}
      </Form>
    </Dialog>
  );
}
