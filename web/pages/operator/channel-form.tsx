import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type {
  ChannelBody,
  ChannelView,
  List,
  OperatorGroup,
  VendorView,
} from '../../../src/console/contract.ts';
import { newIdempotencyKey, send } from '../../api/client.ts';
import { useData } from '../../api/data.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Form, type Saving, useVersion } from '../../components/form.tsx';
import { useToast } from '../../components/toast.tsx';
import { channelWords, sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { ChannelFields, type ChannelText } from './channel-fields.tsx';
import { newSlot, secretsOf, slotsOf } from './channel-keys.tsx';
import { channelAddress, refreshChannels, Unserve, unservedIn } from './channel-parts.tsx';
import { modelsIn, newModelsIn, refusedPrices, wrongPrices } from './vendor-models.tsx';

const empty: ChannelText = {
  name: '',
  vendor: '',
  baseUrl: '',
  keys: [newSlot],
  groups: ['default'],
  models: '',
  newPrices: {},
  unpriced: [],
  priority: '0',
  weight: '1',
  billsCancelled: false,
};

/** A new channel, or a copy of one without its key. */
export function NewChannel({
  like,
  onClose,
}: {
  readonly like: ChannelView | undefined;
  readonly onClose: () => void;
}): ReactNode {
  const { form: words } = useWords(channelWords);
  const toast = useToast();
  const navigate = useNavigate();
  const [idempotencyKey] = useState(newIdempotencyKey);
  const create = useMutation({
    mutationFn: (body: ChannelBody) =>
      send<ChannelView>('POST', 'operator/channels', { body, idempotencyKey }),
    onSuccess: async ({ name }) => {
      toast({ tone: 'done', text: words.created(name) });
      await navigate({ to: '/operator/channels/$id', params: { id: name } });
      await refreshChannels();
    },
  });
  return (
    <Dialog onClose={onClose} title={words.createTitle}>
      <ChannelForm
        start={like === undefined ? empty : { ...textOf(like), name: '', keys: [newSlot] }}
        saving={create}
        submit={words.submit}
        onSubmit={(text) => create.mutate({ name: text.name.trim(), ...bodyOf(text) })}
        onCancel={onClose}
      />
    </Dialog>
  );
}

/** Sends only the changed fields; asks first if models would lose their last channel. */
export function EditChannel({
  channel,
  onClose,
}: {
  readonly channel: ChannelView;
  readonly onClose: () => void;
}): ReactNode {
  const words = useWords(channelWords);
  const shared = useWords(sharedWords);
  const toast = useToast();
  const [unserving, setUnserving] = useState<{
    readonly models: readonly string[];
    readonly body: ChannelBody;
  }>();
  const { version, onConflict } = useVersion(channel.version);
  const patch = async (body: ChannelBody) => {
    await send('PATCH', channelAddress(channel.name), { body, ifMatch: version });
    toast({ tone: 'done', text: words.form.saved });
    await refreshChannels();
    onClose();
  };
  const save = useMutation({
    mutationFn: patch,
    onError: (error, body) => {
      const models = unservedIn(error);
      if (models !== undefined) setUnserving({ models, body });
      onConflict(error);
    },
  });
  return (
    <Dialog onClose={onClose} title={words.form.editTitle(channel.name)}>
      <ChannelForm
        start={textOf(channel)}
        editing={channel}
        saving={unservedIn(save.error) === undefined ? save : { ...save, error: null }}
        submit={shared.actions.save}
        onSubmit={(text) => save.mutate(changeOf(textOf(channel), text))}
        onCancel={onClose}
      />
      {unserving && (
        <Unserve
          channel={channel.name}
          models={unserving.models}
          action={words.unserve.save}
          onConfirm={() => patch({ ...unserving.body, accept_unserved: true })}
          onClose={() => setUnserving(undefined)}
        />
      )}
    </Dialog>
  );
}

interface FormProps {
  readonly start: ChannelText;
  readonly editing?: ChannelView;
  readonly saving: Saving;
  readonly submit: string;
  readonly onSubmit: (text: ChannelText) => void;
  readonly onCancel: () => void;
}

function ChannelForm({ start, editing, onSubmit, ...form }: FormProps): ReactNode {
  const { form: words, fetch } = useWords(channelWords);
  const vendors = useData<List<VendorView>>('operator/vendors').data?.items ?? [];
  const groups = useData<List<OperatorGroup>>('operator/groups').data?.items ?? [];
  const [text, setText] = useState(start);
  const [sent, setSent] = useState(start);
  const vendor = vendors.find(({ name }) => name === text.vendor);
  const keyAgain =
    editing?.secret.set === true && originOf(text, vendors) !== originOf(start, vendors);
  const mistakes = {
    ...wrongIn(text, vendor, words.baseUrlNeeded, words.number),
    ...wrongPrices(text.models, text, fetch.needsPrice),
    ...(keyAgain &&
      secretsOf(text.keys).some((key) => typeof key === 'number') && { secret: words.secretAgain }),
  };
  return (
    <Form
      {...form}
      mistakes={mistakes}
      mine={bodyOf(text)}
      onSubmit={() => {
        setSent(text);
        onSubmit(text);
      }}
    >
      {(errors) => (
        <ChannelFields
          text={text}
          onChange={(change) => setText((old) => ({ ...old, ...change }))}
          errors={{ ...errors, ...refusedPrices(errors, sent) }}
          vendors={vendors}
          vendor={vendor}
          groups={groups.map(({ name }) => name)}
          editing={editing?.name}
          keyAgain={keyAgain}
        />
      )}
    </Form>
  );
}

/** The origin that gets the key: a stored key goes to no other. */
function originOf(
  { vendor, baseUrl }: ChannelText,
  vendors: readonly VendorView[],
): string | undefined {
  const address =
    baseUrl.trim() || (vendors.find(({ name }) => name === vendor)?.default_base_url ?? '');
  return URL.canParse(address) ? new URL(address).origin : undefined;
}

const whole = /^\d{1,9}$/;

function wrongIn(
  text: ChannelText,
  vendor: VendorView | undefined,
  noAddress: string,
  number: string,
): Readonly<Record<string, string>> {
  return {
    ...(text.name.trim() === '' && { name: 'required' }),
    ...(text.vendor === '' && { vendor: 'required' }),
    ...(vendor?.default_base_url === null && text.baseUrl.trim() === '' && { base_url: noAddress }),
    ...(!whole.test(text.priority) && { priority: number }),
    ...(!whole.test(text.weight) && { weight: number }),
  };
}

function textOf(channel: ChannelView): ChannelText {
  const {
    name,
    vendor,
    base_url: baseUrl,
    groups,
    models,
    priority,
    weight,
    bills_cancelled_input: billsCancelled,
  } = channel;
  const lines = models.map(({ id, upstream }) => (id === upstream ? id : `${id} = ${upstream}`));
  return {
    name,
    vendor,
    groups,
    keys: slotsOf(channel),
    baseUrl: baseUrl ?? '',
    models: lines.join('\n'),
    newPrices: {},
    unpriced: [],
    priority: String(priority),
    weight: String(weight),
    billsCancelled,
  };
}

function bodyOf({
  vendor,
  baseUrl,
  keys,
  groups,
  models,
  newPrices,
  priority,
  weight,
  billsCancelled,
}: ChannelText): ChannelBody {
  const secrets = secretsOf(keys);
  const named = modelsIn(models);
  const priced = newModelsIn(models, newPrices);
  return {
    vendor,
    ...(baseUrl.trim() !== '' && { base_url: baseUrl.trim() }),
    ...(secrets.length > 0 && { secrets }),
    groups,
    ...(named.length > 0 && { models: named }),
    ...(priced.length > 0 && { new_models: priced }),
    priority: Number(priority),
    weight: Number(weight),
    bills_cancelled_input: billsCancelled,
  };
}

function changeOf(before: ChannelText, after: ChannelText): ChannelBody {
  const { base_url: address, ...body } = bodyOf(after);
  const was: Readonly<Record<string, unknown>> = { ...bodyOf(before) };
  const changed = Object.entries(body).filter(
    ([name, value]) => JSON.stringify(was[name]) !== JSON.stringify(value),
  );
  return {
    ...Object.fromEntries(changed),
    ...(before.baseUrl.trim() !== after.baseUrl.trim() && { base_url: address ?? null }),
  };
}
