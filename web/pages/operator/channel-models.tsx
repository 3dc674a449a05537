import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { ChannelModel, ChannelView, UnitPrice } from '../../../src/console/contract.ts';
import { send } from '../../api/client.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { EmptyState } from '../../components/error-panel.tsx';
import { Fieldset } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Panel } from '../../components/page.tsx';
import { PathLink } from '../../components/path-link.tsx';
import { Badge } from '../../components/status-badge.tsx';
import { named } from '../../components/named-columns.ts';
import { type Column, Table } from '../../components/table.tsx';
import { useToast } from '../../components/toast.tsx';
import { lineKey, priceText } from '../../format/price.ts';
import { emptyLine, linesOf, type PriceLine, writtenPrices } from '../../format/written-price.ts';
import { channelWords, modelsWords, sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { useKind } from '../charge-parts.tsx';
import { channelAddress, refreshChannels } from './channel-parts.tsx';
import { operatorModelPath } from './model-parts.ts';
import { PriceFields, refusedLines, wrongLines } from './price-fields.tsx';

/** The models of a channel, their names there, and the vendor's prices. */
export function ChannelModels({ channel }: { readonly channel: ChannelView }): ReactNode {
  const { models: words } = useWords(channelWords);
  const [editing, setEditing] = useState<string>();
  const costOf = (id: string) => channel.costs.find(({ model }) => model === id)?.prices ?? [];
  const priced = (model: ChannelModel) =>
    model.priced ? (
      <Badge tone="good" icon="check">
        {words.isPriced}
      </Badge>
    ) : (
      <Badge tone="warn" icon="warning">
        {words.notPriced}
      </Badge>
    );
  const cost = (model: ChannelModel) => (
    <Cost prices={costOf(model.id)} model={model.id} onEdit={() => setEditing(model.id)} />
  );
  const columns: readonly Column<ChannelModel>[] = named(words, [
    {
      id: 'model',
      cell: ({ id }) => (
        <span className="block max-w-60 truncate">
          <PathLink path={operatorModelPath(id)}>{id}</PathLink>
        </span>
      ),
    },
    {
      id: 'upstream',
      cell: ({ upstream }) => <span className="font-mono text-caption">{upstream}</span>,
    },
    { id: 'can', spare: 1, cell: (model) => <Capabilities of={model} /> },
    { id: 'priced', cell: priced },
    { id: 'cost', align: 'right', cell: cost },
  ]);
  return (
    <Panel flush>
      {channel.models.length === 0 ? (
        <EmptyState text={words.none} />
      ) : (
        <Table
          label={words.model}
          rows={channel.models}
          rowKey={({ id }) => id}
          columns={columns}
          card={(model) => ({
            title: <PathLink path={operatorModelPath(model.id)}>{model.id}</PathLink>,
            value: priced(model),
            detail: (
              <>
                <span className="font-mono wrap-anywhere">{model.upstream}</span>
                <span className="ml-auto">{words.cost}</span>
                {cost(model)}
              </>
            ),
          })}
        />
      )}
      {editing !== undefined && (
        <CostDialog channel={channel} model={editing} onClose={() => setEditing(undefined)} />
      )}
    </Panel>
  );
}

function Capabilities({ of }: { readonly of: ChannelModel }): ReactNode {
  const nameOf = useKind();
  return (
    <span className="block min-w-40 py-1 text-caption whitespace-normal text-muted">
      {of.capabilities.map(nameOf).join(' · ')}
    </span>
  );
}

interface CostProps {
  readonly prices: readonly UnitPrice[];
  readonly model: string;
  readonly onEdit: () => void;
}

function Cost({ prices, model, onEdit }: CostProps): ReactNode {
  const { models: words } = useWords(channelWords);
  const { classes } = useWords(modelsWords);
  const entered = prices.length > 0;
  return (
    <span className="inline-flex flex-wrap items-center justify-end gap-x-2">
      {entered ? (
        prices.slice(0, 3).map((price) => (
          <span key={lineKey(price)} className="text-caption">
            <span className="text-muted">{classes[price.class]}</span> {priceText(price.amount)}
          </span>
        ))
      ) : (
        <span className="text-caption text-muted">{words.noCost}</span>
      )}
      <Button
        size="small"
        look="ghost"
        aria-label={`${entered ? words.editCost : words.enterCost}: ${model}`}
        onClick={onEdit}
      >
        {entered ? words.editCost : words.enterCost}
      </Button>
    </span>
  );
}

interface CostDialogProps {
  readonly channel: ChannelView;
  readonly model: string;
  readonly onClose: () => void;
}

/** The API takes all costs of a channel at once: the others are sent unchanged. */
function CostDialog({ channel, model, onClose }: CostDialogProps): ReactNode {
  const { models: words } = useWords(channelWords);
  const { actions } = useWords(sharedWords);
  const toast = useToast();
  const known = linesOf(channel.costs.find((each) => each.model === model)?.prices ?? []);
  const [lines, setLines] = useState<readonly PriceLine[]>(
    known.length > 0 ? known : (['input', 'cached_input', 'output'] as const).map(emptyLine),
  );
  const save = useMutation({
    mutationFn: () => {
      const others = channel.costs
        .filter((each) => each.model !== model)
        .map((each) => [each.model, writtenPrices(linesOf(each.prices))]);
      const mine = lines.some(({ amount }) => amount !== '') ? [[model, writtenPrices(lines)]] : [];
      return send('PATCH', channelAddress(channel.name), {
        body: { costs: Object.fromEntries([...others, ...mine]) },
        ifMatch: channel.version,
      });
    },
    onSuccess: async () => {
      toast({ tone: 'done', text: words.saved });
      onClose();
      await refreshChannels();
    },
  });
  return (
    <Dialog onClose={onClose} title={words.costTitle(model)}>
      <Form
        mistakes={wrongLines(lines)}
        saving={save}
        submit={actions.save}
        onSubmit={() => save.mutate()}
        onCancel={onClose}
      >
        {(errors) => (
          <Fieldset legend={words.cost} help={words.costHelp} error={errors[`costs.${model}`]}>
            <PriceFields
              lines={lines}
              onChange={setLines}
              errors={{ ...errors, ...refusedLines(errors, `costs.${model}`, lines) }}
            />
          </Fieldset>
        )}
      </Form>
    </Dialog>
  );
}
