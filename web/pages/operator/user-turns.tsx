import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { ReasonBody, RoleBody, UserAnswer, UserView } from '../../../src/console/contract.ts';
import { send } from '../../api/client.ts';
import { refresh } from '../../api/data.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Form } from '../../components/form.tsx';
import { useToast } from '../../components/toast.tsx';
import { userMark } from './user-mark.ts';
import { peopleWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { ReasonField } from './parts.tsx';
import { userAddress } from './user-name.tsx';

export type Turn = 'suspend' | 'restore' | 'operator' | 'user';

interface TurnDialogProps {
  readonly user: UserView;
  readonly turn: Turn;
  readonly onClose: () => void;
}

/** Suspends or restores a user, or changes the role: the effect as text, and a reason. */
export function TurnDialog({ user, turn, onClose }: TurnDialogProps): ReactNode {
  const { user: words, users } = useWords(peopleWords);
  const toast = useToast();
  const [reason, setReason] = useState('');
  const text = useTurn(user, turn);
  const act = useMutation({
    mutationFn: () => {
      const body: ReasonBody | RoleBody =
        turn === 'operator' || turn === 'user'
          ? { role: turn, reason: reason.trim() }
          : { reason: reason.trim() };
      const verb = turn === 'operator' || turn === 'user' ? 'role' : turn;
      return send<UserAnswer>('POST', `${userAddress(user.id)}/${verb}`, { body });
    },
    onSuccess: ({ user: after }) => {
      toast({
        tone: 'done',
        text: text.done ?? words.roleDone(after.name, users.roles[after.role]),
      });
      onClose();
      void refresh('operator/users');
    },
  });
  return (
    <Dialog
      onClose={onClose}
      title={text.title}
      description={`${words.id} ${userMark(user.id, user.email)}`}
    >
      <Form
        mistakes={{ ...(reason.trim() === '' && { reason: 'required' }) }}
        saving={act}
        submit={text.button}
        look={turn === 'restore' ? 'primary' : 'danger'}
        onSubmit={() => act.mutate()}
        onCancel={onClose}
      >
        {(errors) => (
          <>
            <p>{text.text}</p>
            <ReasonField value={reason} onChange={setReason} error={errors['reason']} />
          </>
        )}
      </Form>
    </Dialog>
  );
}

function useTurn({ name, keys }: UserView, turn: Turn) {
  const { user: words } = useWords(peopleWords);
  switch (turn) {
    case 'suspend':
      return {
        title: words.suspendTitle(name),
        text: words.suspendText(keys),
        button: words.suspend,
        done: words.suspended(name),
      };
    case 'restore':
      return {
        title: words.restoreTitle(name),
        text: words.restoreText,
        button: words.restore,
        done: words.restored(name),
      };
    case 'operator':
      return {
        title: words.roleTitle.operator(name),
        text: words.roleText.operator,
        button: words.makeOperator,
        done: undefined,
      };
    case 'user':
      return {
        title: words.roleTitle.user(name),
        text: words.roleText.user,
        button: words.makeUser,
        done: undefined,
      };
  }
}
