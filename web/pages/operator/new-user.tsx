import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { Invitation, NewUserBody, RoleName, UserView } from '../../../src/console/contract.ts';
import { newIdempotencyKey, send } from '../../api/client.ts';
import { refresh } from '../../api/data.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ChoiceField } from '../../components/choice.tsx';
import { Field, TextInput } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { useZone } from '../../components/time.tsx';
import { formatTime } from '../../format/time.ts';
import { userMark } from './user-mark.ts';
import { peopleWords, sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { userAddress } from './user-name.tsx';

/** Makes a user, and shows the link by which the user signs in for the first time. */
export function NewUser({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { users: words } = useWords(peopleWords);
  const [idempotencyKey] = useState(newIdempotencyKey);
  const [name, setName] = useState('');
  const [role, setRole] = useState<RoleName>('user');
  const create = useMutation({
    mutationFn: (body: NewUserBody) =>
      send<Invitation>('POST', 'operator/users', { body, idempotencyKey }),
    onSuccess: () => void refresh('operator/users'),
  });
  if (create.data !== undefined)
    return <InvitationDialog invitation={create.data} onClose={onClose} />;
  return (
    <Dialog onClose={onClose} title={words.create.title}>
      <Form
        mistakes={{ ...(name.trim() === '' && { name: 'required' }) }}
        saving={create}
        submit={words.create.submit}
        onSubmit={() => create.mutate({ name: name.trim(), role })}
        onCancel={onClose}
      >
        {(errors) => (
          <>
            <Field label={words.create.name} help={words.create.nameHelp} error={errors['name']}>
              {(tied) => (
                <TextInput
                  {...tied}
                  name="name"
                  maxLength={64}
                  value={name}
                  onChange={({ target }) => setName(target.value)}
                />
              )}
            </Field>
            <ChoiceField
              label={words.role}
              value={role}
              options={[
                ['user', words.roles.user],
                ['operator', words.roles.operator],
              ]}
              onChange={setRole}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}

/** Asks for another link for a user who never signed in. */
export function InviteAgain({
  user,
  onClose,
}: {
  readonly user: UserView;
  readonly onClose: () => void;
}): ReactNode {
  const { users: words, user: acts } = useWords(peopleWords);
  const invite = useMutation({
    mutationFn: () => send<Invitation>('POST', `${userAddress(user.id)}/link`),
    onSuccess: () => void refresh('operator/users'),
  });
  if (invite.data !== undefined)
    return <InvitationDialog invitation={invite.data} onClose={onClose} />;
  return (
    <Dialog
      onClose={onClose}
      title={words.create.inviteTitle(user.name)}
      description={`${acts.id} ${userMark(user.id, user.email)}`}
    >
      <Form
        saving={invite}
        submit={words.create.invite}
        onSubmit={() => invite.mutate()}
        onCancel={onClose}
      />
    </Dialog>
  );
}

function InvitationDialog({
  invitation: { user, path, expires_at: until },
  onClose,
}: {
  readonly invitation: Invitation;
  readonly onClose: () => void;
}): ReactNode {
  const { users, user: acts } = useWords(peopleWords);
  const words = users.create;
  const { actions } = useWords(sharedWords);
  const zone = useZone();
  const link = new URL(path, location.origin).href;
  return (
    <Dialog
      locked
      onClose={onClose}
      title={words.linkTitle(user.name)}
      description={`${acts.id} ${userMark(user.id, user.email)}`}
      footer={
        <>
          <Button onClick={onClose}>{actions.close}</Button>
          <CopyButton text={link} look="primary">
            {words.copy}
          </CopyButton>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <p>{words.linkText(formatTime(until, zone))}</p>
        <code
          aria-label={words.link}
          className="block rounded-control border border-line bg-sunken p-3 font-mono text-table break-all select-all"
        >
          {link}
        </code>
      </div>
    </Dialog>
  );
}
